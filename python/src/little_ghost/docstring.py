"""Reads Google-style docstrings: what a tool does, and what its parameters mean."""

from __future__ import annotations

import inspect

_PARAMETERS = frozenset({"Args", "Arguments", "Parameters"})
_OTHERS = frozenset(
    {
        "Attributes",
        "Example",
        "Examples",
        "Note",
        "Notes",
        "Raises",
        "Return",
        "Returns",
        "Warning",
        "Warnings",
        "Yield",
        "Yields",
    }
)


def parse_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """Splits a docstring into its first paragraph and the descriptions of its parameters."""
    if not text:
        return "", {}
    lines = inspect.cleandoc(text).splitlines()
    return _first_paragraph(lines), _parameters(lines)


def _first_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        if not line.strip() or _section(line):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def _parameters(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    inside = False
    indent = 0
    current: list[str] | None = None
    for line in lines:
        section = _section(line)
        if section:
            inside, indent, current = section in _PARAMETERS, 0, None
            continue
        if not inside or not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            inside = False
            continue
        indent = indent or depth
        entry = _entry(line.strip()) if depth == indent else None
        if entry:
            name, text = entry
            current = found.setdefault(name, [])
            current.append(text)
        elif current is not None:
            current.append(line.strip())
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}


def _section(line: str) -> str | None:
    """The section that an unindented line such as `Args:` begins."""
    name = line.rstrip()
    if not name.endswith(":"):
        return None
    name = name[:-1]
    return name if name in _PARAMETERS or name in _OTHERS else None


def _entry(line: str) -> tuple[str, str] | None:
    """The name and text of `name: text` or `name (type): text`."""
    head, colon, text = line.partition(":")
    if "(" in head:
        # The type may hold colons of its own.
        closing = line.find("):")
        if closing < 0:
            return None
        head, text = line[: line.index("(")], line[closing + 2 :]
    name = head.strip().lstrip("*")
    return (name, text.strip()) if colon and name.isidentifier() else None
