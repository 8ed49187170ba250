"""Reads Google-style docstrings: what a tool does, and what its parameters mean."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?|Attributes|Warnings?):\s*$"
)
_PARAMETERS = {"Args", "Arguments", "Parameters"}
_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def parse_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """Splits a docstring into its first paragraph and the descriptions of its parameters."""
    if not text:
        return "", {}
    lines = inspect.cleandoc(text).splitlines()
    return _first_paragraph(lines), _parameters(lines)


def _first_paragraph(lines: list[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        if not line.strip() or _SECTION.match(line):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def _parameters(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    inside = False
    indent = 0
    current: list[str] | None = None
    for line in lines:
        section = _SECTION.match(line)
        if section:
            inside, indent, current = section[1] in _PARAMETERS, 0, None
            continue
        if not inside or not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            inside = False
            continue
        indent = indent or depth
        entry = _ENTRY.match(line.strip()) if depth == indent else None
        if entry:
            current = found.setdefault(entry[1], [])
            current.append(entry[2])
        elif current is not None:
            current.append(line.strip())
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}
