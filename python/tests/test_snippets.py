"""The documents are right: their Python runs, their commands and links exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import snippets
from snippets import DOCUMENTS, ROOT, SUITE, Block, Scenario

FILES = {file: output["python"] for file, output in SUITE["output"].items() if "python" in output}
# Rust and Ruby run their own; the rest are no programs.
LANGUAGES = {
    "ruby",
    "python",
    "rust",
    "sh",
    "text",
    "json",
    "yaml",
    "toml",
    "erb",
    "jinja",
    "mermaid",
}
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
VERSION = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def control() -> Iterator[str]:
    with snippets.scripted_server() as address:
        yield address


@pytest.mark.parametrize("file", FILES)
def test_python_blocks_run_and_print_what_they_should(file: str, control: str) -> None:
    scenario = snippets.answering(control)
    printed = ""
    for group in snippets.processes(file):
        finished = snippets.run(group, scenario.base_url)
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr == ""
        printed += finished.stdout
    position = 0
    for part in FILES[file]:
        position = printed.find(part, position)
        assert position >= 0, f"{part!r} is not where it should be in {printed!r}"
        position += len(part)
    assert [request["error"] for request in scenario.requests() if request["error"]] == []


def example(base_url: str, *arguments: str) -> tuple[int, str, str]:
    finished = snippets.python(
        [ROOT / "examples/python/support_agent.py", *arguments],
        LITTLE_GHOST_DEMO_BASE_URL=base_url,
        LITTLE_GHOST_DEMO_MODEL="scripted",
        LITTLE_GHOST_DEMO_API="chat_completions",
    )
    return finished.returncode, finished.stdout, finished.stderr


def test_the_example_answers(control: str) -> None:
    scenario = snippets.answering(control)
    status, printed, errors = example(scenario.base_url)
    assert (status, errors) == (0, "")
    assert "[looking up: help_center_lookup]" in printed
    usage = "[completed, 117 tokens]"
    assert f"Yes, items can be returned within 30 days.\n{usage}" in printed

    status, printed, _ = example(scenario.base_url, "Where is order 481?")
    assert status == 0
    assert "out for delivery" in str(scenario.requests()[-1]["body"])
    assert "Order 481 is out for delivery." in printed


def test_the_example_says_when_it_could_not_answer(control: str) -> None:
    refusal = {"status": 401, "body": {"error": {"message": "bad key"}}}
    scenario = Scenario(control, [refusal], unordered=False)
    status, _, errors = example(scenario.base_url)
    assert status == 1
    assert "HTTPError" in errors


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
class TestDocument:
    def test_every_block_is_of_a_kind_that_is_tested(self, document: Path) -> None:
        name = str(document.relative_to(ROOT))
        for block in snippets.blocks(document):
            assert block.language in LANGUAGES, f"{name}:{block.line}: {block.language!r}"
            if block.language in {"ruby", "python", "rust"}:
                assert block.language in SUITE["output"].get(name, {}), f"{name}:{block.line}"

    def test_commands_exist(self, document: Path) -> None:
        for block in snippets.blocks(document):
            if block.language == "sh":
                for line in block.code.splitlines():
                    assert known_command(line), f"{block.file}:{block.line}: {line}"

    def test_links_lead_somewhere(self, document: Path) -> None:
        text = document.read_text("utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"\w+:", target):
                assert (document.parent / target).exists(), f"{document}: {target}"


def known_command(line: str) -> bool:
    """Whether a command of the documents can work."""
    command, *arguments = shlex.split(line) or [""]
    match command, *arguments:
        case "make", *targets:
            return set(targets) <= TARGETS
        case "export", assignment:
            return re.fullmatch(r"[A-Z_]+_API_KEY=\.\.\.", assignment) is not None
        case "gem", "build", file:
            return (ROOT / file).is_file()
        case "gem", "install", file:
            return VERSION is not None and file == f"little_ghost-{VERSION[1]}.gem"
        case "pip", "install", folder:
            return (ROOT / folder / "pyproject.toml").is_file()
        case "cargo", "add", "little-ghost", "--path", path, *features:
            crate = (ROOT / Path(path).name / "Cargo.toml").read_text("utf-8")
            return all(f"\n{name} = [" in crate for name in features if name != "--features")
        case "cargo", "add", *packages:
            manifest = (ROOT / "Cargo.toml").read_text("utf-8")
            names = [name for name in packages if re.fullmatch(r"[a-z-]+", name)]
            return all(f"\n{name} = " in manifest for name in names if not name.startswith("--"))
        case _:
            return False


def test_blocks_are_found() -> None:
    languages = {block.language for document in DOCUMENTS for block in snippets.blocks(document)}
    assert {"ruby", "python", "rust", "sh"} <= languages
    found: list[Block] = snippets.blocks(ROOT / "README.md")
    assert found[0].code.startswith('require "little_ghost"')
