"""The code blocks of the README and the guides, and how they run.

`tests/snippets/snippets.json` has the scripted answers and what the blocks print.
"""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("snippet_runner.py")
SUITE = json.loads((ROOT / "tests/snippets/snippets.json").read_text("utf-8"))
NEW_PROCESS = "<!-- snippet: new process -->"
# The block that follows is the content of this file in the program's folder.
FILE = re.compile(r"<!-- snippet: file (\S+) -->")
# A connection of the text leads to the scripted server as well.
CONNECTION = '"adapter": "openrouter",'
DOCUMENTS = sorted(
    {
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "core/README.md",
        ROOT / "python/README.md",
    }
)


@dataclass(frozen=True)
class Block:
    """One fenced block: where its code begins, and what it says."""

    file: str
    line: int
    language: str
    code: str
    starts_process: bool
    path: str | None = None


def blocks(document: Path) -> list[Block]:
    """Every fenced block of a document."""
    found = []
    marked = False
    path = None
    lines = iter(enumerate(document.read_text("utf-8").splitlines(), start=1))
    for number, line in lines:
        marked = marked or line == NEW_PROCESS
        path = named[1] if (named := FILE.fullmatch(line)) else path
        if not (fence := re.match(r"( *)```(\w*)", line)):
            continue
        code = []
        for _, inner in lines:
            if inner.strip() == "```":
                break
            code.append(inner.removeprefix(fence[1]))
        name = str(document.relative_to(ROOT))
        found.append(Block(name, number + 1, fence[2], "\n".join(code), marked, path))
        marked, path = False, None
    return found


def processes(file: str) -> list[list[Block]]:
    """The Python blocks of a file, grouped by the process that runs them."""
    groups: list[list[Block]] = [[]]
    for block in blocks(ROOT / file):
        if block.language == "python":
            if block.starts_process:
                groups.append([])
            groups[-1].append(block)
    return [group for group in groups if group]


def run(group: list[Block], base_url: str) -> "subprocess.CompletedProcess[str]":
    """Runs blocks in a process and a folder of their own."""
    connected = f'{CONNECTION} "base_url": "{base_url}",'
    given = [
        {**asdict(block), "code": block.code.replace(CONNECTION, connected)} for block in group
    ]
    text = json.dumps({"base_url": base_url, "blocks": given})
    with TemporaryDirectory() as folder:
        for block in blocks(ROOT / group[0].file):
            if block.path:
                file = Path(folder, block.path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.code, "utf-8")
        return python(
            [RUNNER],
            text.replace(SUITE["local_server"], base_url),
            folder,
            OPENROUTER_API_KEY="test-key",
        )


def python(
    arguments: list[Any], given: str = "", folder: str | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs Python with the package of this checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python/src"), **environment},
    )


class Scenario:
    """A script on the server."""

    def __init__(self, control: str, exchanges: list[Any], *, unordered: bool) -> None:
        made = request(f"{control}/_scenarios", exchanges=exchanges, unordered=unordered)
        self.base_url: str = made["base_url"]
        self._journal = f"{control}/_scenarios/{made['id']}/journal"

    def requests(self) -> list[dict[str, Any]]:
        """What was asked so far."""
        return list(request(self._journal)["requests"])


def request(url: str, **body: Any) -> Any:
    """Asks the server's control paths."""
    data = json.dumps(body).encode() if body else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data), timeout=20) as answer:
        return json.load(answer)


@contextmanager
def scripted_server() -> Iterator[str]:
    """The address of a scripted LLM server, which ends afterwards."""
    built = os.environ.get("LITTLE_GHOST_SCRIPTED_LLM")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    candidates = (
        [built] if built else [target / kind / "scripted-llm" for kind in ("release", "debug")]
    )
    program = next(path for path in candidates if Path(path).exists())
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.communicate()


def answering(control: str) -> Scenario:
    """A model that answers every question of the snippets."""
    return Scenario(control, SUITE["exchanges"] * SUITE["copies"], unordered=True)
