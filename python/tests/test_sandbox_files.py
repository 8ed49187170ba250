"""The cases of `tests/conformance/sandbox/files.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from little_ghost import ToolError, _native
from little_ghost.models.catalog import answer

FILE = Path(__file__).parents[2] / "tests" / "conformance" / "sandbox" / "files.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))


def done(job: _native.Job) -> Any:
    return answer(job)


def prepare(case: dict[str, Any], folder: Path) -> None:
    (folder / "root").mkdir()
    for path, content in case.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    for path, content in case.get("links", {}).items():
        (folder / path).symlink_to(content)
    for path, other in case.get("hard_links", {}).items():
        (folder / path).hardlink_to(folder / other)


def opened(case: dict[str, Any], folder: Path) -> _native.Workspace:
    paths = {
        name: str(folder / path[3:]) if path.startswith("../") else path
        for name, path in case.get("paths", {}).items()
    }
    workspace = _native.Workspace({"root": str(folder / "root"), "paths": paths})
    assert done(workspace.begin_opening()) is True
    done(workspace.record())
    return workspace


def outcome(sandbox: _native.Sandbox, call: dict[str, Any]) -> dict[str, str]:
    operation = {"op": "tool", "name": call["tool"], "input": call["input"]}
    try:
        return {"text": done(sandbox.perform(operation))}
    except ToolError as error:
        return {"error": str(error)}
    except Exception as error:
        return {"error": f"The tool failed unexpectedly ({type(error).__name__})."}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_case(case: dict[str, Any], tmp_path: Path) -> None:
    prepare(case, tmp_path)
    workspace = opened(case, tmp_path)
    options = {**case["policy"], "limits": case.get("limits")}
    sandbox = _native.Sandbox.build("unrestricted", workspace, options)
    seen = [outcome(sandbox, call) for call in case["calls"]]
    expected = [
        {key: call[key] for key in ("text", "error") if key in call} for call in case["calls"]
    ]
    assert seen == expected
    for path, content in case.get("after", {}).items():
        assert (tmp_path / path).read_text(encoding="utf-8") == content
