"""Names in code, and the names that models read."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def snake_case(name: str) -> str:
    """`OrderStatus` as `order_status`."""
    words: list[str] = []
    for index, letter in enumerate(name):
        following = name[index + 1 : index + 2]
        starts = (
            index > 0
            and letter.isupper()
            and (not name[index - 1].isupper() or following.islower())
        )
        words.append(f"_{letter}" if starts and name[index - 1] != "_" else letter)
    return "".join(words).lower()


def caller_names(depth: int) -> dict[str, Any]:
    """Local names of a calling function, so that quoted hints may use its local classes."""
    try:
        return dict(sys._getframe(depth + 1).f_locals)
    except ValueError:
        return {}
