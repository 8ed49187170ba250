"""Workspaces: names, references, setup and teardown."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from little_ghost import DependencyError, ToolError, Workspace


def test_relative_paths_are_created_and_absolute_ones_must_exist(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    paths = {"skills": "skills", "source": tmp_path / "elsewhere"}
    with Workspace(tmp_path / "root", paths) as workspace:
        assert workspace.root == tmp_path / "root"
        assert workspace.paths["skills"].is_dir()
        assert workspace.path("source") == tmp_path / "elsewhere"
    missing = Workspace(tmp_path / "root", {"source": tmp_path / "nowhere"})
    with pytest.raises(ValueError, match="source"):
        missing.open()


def test_references_name_paths_and_nothing_outside(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, {"skills": "skills"})
    assert workspace.resolve("notes/a.md") == tmp_path / "notes/a.md"
    assert workspace.resolve("workspace://skills/a.md") == tmp_path / "skills/a.md"
    assert workspace.reference(tmp_path / "skills/a.md") == "workspace://skills/a.md"
    assert workspace.reference(tmp_path) == "."
    assert workspace.environment == {
        "LITTLE_GHOST_WORKSPACE_ROOT": str(tmp_path),
        "LITTLE_GHOST_WORKSPACE_SKILLS": str(tmp_path / "skills"),
    }
    for unusable in ("", "/etc", "../x", "workspace://"):
        with pytest.raises(ValueError):
            workspace.resolve(unusable)
    with pytest.raises(KeyError):
        workspace.resolve("workspace://secrets/x")
    with pytest.raises(KeyError):
        workspace.path("secrets")
    with pytest.raises(ValueError):
        workspace.reference("/etc")
    with pytest.raises(ValueError):
        Workspace(tmp_path, {"a/b": "c"})


def test_setup_and_teardown_are_called_once(tmp_path: Path) -> None:
    said: list[Any] = []

    def setup(workspace: Workspace, run: object) -> None:
        said.append(("setup", workspace.root.exists(), run))

    workspace = Workspace(
        tmp_path / "root",
        setup=setup,
        teardown=lambda workspace: said.append(shutil.rmtree(workspace.root)),
    )
    assert workspace.open() is workspace
    workspace.open()
    workspace.close()
    workspace.close()
    assert said == [("setup", False, None), None]
    assert not (tmp_path / "root").exists()
    with pytest.raises(TypeError, match="setup must be a function"):
        Workspace(tmp_path, setup="rm")  # type: ignore[arg-type]


def test_a_failed_setup_is_torn_down(tmp_path: Path) -> None:
    said: list[str] = []

    def setup() -> None:
        raise OSError("no space")

    workspace = Workspace(tmp_path, setup=setup, teardown=lambda: said.append("teardown"))
    with pytest.raises(OSError, match="no space"):
        workspace.open()
    workspace.close()
    assert said == ["teardown"]


async def test_coroutines_set_up_and_tear_down(tmp_path: Path) -> None:
    said: list[str] = []

    async def setup(workspace: Workspace) -> None:
        await asyncio.sleep(0)
        said.append("setup")

    async def teardown() -> None:
        said.append("teardown")

    async with Workspace(tmp_path, setup=setup, teardown=teardown) as workspace:
        assert await workspace.open_async() is workspace
        assert said == ["setup"]
    assert said == ["setup", "teardown"]
    with pytest.raises(RuntimeError, match="open_async"):
        Workspace(tmp_path, setup=setup).open()


def test_a_coroutine_sets_up_without_a_loop(tmp_path: Path) -> None:
    said: list[str] = []

    async def setup() -> None:
        said.append("setup")

    with Workspace(tmp_path, setup=setup):
        assert said == ["setup"]


async def test_a_cancelled_setup_is_torn_down_by_closing(tmp_path: Path) -> None:
    said: list[str] = []
    began = asyncio.Event()

    async def setup() -> None:
        began.set()
        await asyncio.Event().wait()

    workspace = Workspace(tmp_path, setup=setup, teardown=lambda: said.append("teardown"))
    task = asyncio.create_task(workspace.open_async())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert said == []
    await workspace.close_async()
    assert said == ["teardown"]


def test_a_replaced_directory_is_noticed(tmp_path: Path) -> None:
    with Workspace(tmp_path / "root", {"skills": "skills"}) as workspace:
        assert workspace.validate() is workspace
        workspace.path("skills").rename(tmp_path / "moved")
        workspace.path("skills").mkdir()
        with pytest.raises(ToolError):
            workspace.validate()


def test_two_names_of_one_directory_are_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "root", {"one": "same", "two": "same"})
    with pytest.raises(ValueError, match="one"):
        workspace.open()


def test_providers_are_known_by_name() -> None:
    assert Workspace.resolve_provider("directory") is Workspace
    with pytest.raises(DependencyError, match="nowhere"):
        Workspace.resolve_provider("nowhere")
    with pytest.raises(TypeError):
        Workspace.register_provider("one", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Workspace.register_provider("", Workspace)
