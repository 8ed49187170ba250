"""Templates: finding and rendering them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from little_ghost import (
    InvalidPromptTemplateError,
    LookupRoot,
    MissingPromptLocalError,
    MissingPromptTemplateError,
    PathSet,
    PromptResolver,
    TrustedPath,
)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_renders_a_template_and_its_partials(tmp_path: Path) -> None:
    write(
        tmp_path,
        "support/system.j2",
        'For {{ product }}.\n{{ partial("shared/voice", tone=tone) }}',
    )
    write(tmp_path, "shared/_voice.j2", "Be {{ tone }} & brief.")
    prompts = PromptResolver([tmp_path])
    text = prompts.render("support/system", {"product": "Acme", "tone": "warm"})
    assert text == "For Acme.\nBe warm & brief."


def test_takes_values_that_have_a_plain_form(tmp_path: Path) -> None:
    @dataclass
    class Plan:
        name: str
        seats: int

    write(tmp_path, "a.j2", "{{ plan.name.upper() }} {% for key in keys %}[{{ key }}]{% endfor %}")
    prompts = PromptResolver([tmp_path])
    assert prompts.render("a", {"plan": Plan("pro", 3), "keys": ("x", "y")}) == "PRO [x][y]"
    with pytest.raises(TypeError, match=r"\$\.plan is of type object"):
        prompts.render("a", {"plan": object()})
    with pytest.raises(ValueError, match="cannot name a prompt local"):
        prompts.render("a", {"Plan": 1})


def test_says_what_is_missing_and_where(tmp_path: Path) -> None:
    write(tmp_path, "a.j2", "one\n{{ company }}")
    prompts = PromptResolver([tmp_path])
    with pytest.raises(MissingPromptLocalError, match=r"a\.j2:2: `company` is undefined"):
        prompts.render("a")
    with pytest.raises(MissingPromptTemplateError, match=str(tmp_path)):
        prompts.render("b")
    for name in ("", "/a", "../a", "a\0"):
        with pytest.raises(InvalidPromptTemplateError):
            prompts.render(name)


def test_a_template_that_renders_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.j2", '{{ partial("b") }}')
    write(tmp_path, "_b.j2", '{{ partial("b") }}')
    with pytest.raises(InvalidPromptTemplateError, match="itself"):
        PromptResolver([tmp_path]).render("a")
    with pytest.raises(InvalidPromptTemplateError, match="more than 1 "):
        PromptResolver([tmp_path], max_depth=1).render("a")


def test_folders_of_one_call_come_first(tmp_path: Path) -> None:
    usual, own = tmp_path / "usual", tmp_path / "own"
    write(usual, "a.j2", "usual")
    write(own, "a.j2", "own")
    prompts = PromptResolver([usual])
    assert prompts.render("a") == "usual"
    assert prompts.render("a", invocation_paths=[TrustedPath(own)]) == "own"
    assert prompts.find("a") == usual / "a.j2"
    assert prompts.find("b") is None
    untrusted: Any = [own]
    with pytest.raises(ValueError, match="TrustedPath"):
        prompts.render("a", invocation_paths=untrusted)


def test_a_trusted_path_is_an_existing_folder(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert TrustedPath(link).path == tmp_path.resolve()
    assert TrustedPath(link) == TrustedPath(str(tmp_path))
    write(tmp_path, "a.j2", "x")
    for path in (tmp_path / "none", tmp_path / "a.j2"):
        with pytest.raises(ValueError, match="trusted path"):
            TrustedPath(path)


def test_a_root_must_stay_inside_its_boundary(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.j2", "secret")
    application = tmp_path / "application"
    application.mkdir()
    (application / "prompts").symlink_to(tmp_path / "outside")
    root = LookupRoot(application / "prompts", boundary=application)
    with pytest.raises(InvalidPromptTemplateError, match="leads out"):
        PromptResolver([root]).render("a")


def test_a_path_set_never_changes(tmp_path: Path) -> None:
    paths = PathSet([tmp_path / "a"])
    more = paths + PathSet([tmp_path / "b"])
    assert [root.path.name for root in more] == ["a", "b"]
    assert len(paths) == 1
    assert more == PathSet([tmp_path / "a", tmp_path / "b"])
    assert LookupRoot("a/../b").path == Path.cwd() / "b"
    with pytest.raises(TypeError, match="list of folders"):
        PathSet("app/prompts")


def test_an_empty_path_is_not_the_working_directory() -> None:
    with pytest.raises(ValueError, match="empty"):
        TrustedPath("")
