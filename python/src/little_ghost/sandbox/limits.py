"""How much file operations and processes may bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .._native import Sandbox as NativeSandbox


@dataclass(frozen=True, slots=True)
class Limits:
    """How much file operations and the output of processes may bring.

    Attributes:
        read_bytes: Bytes of one file that is read.
        write_bytes: Bytes of one file that is written.
        list_entries: Entries of one directory that is listed.
        output_bytes: Bytes of each stream of a program's output.

    Raises:
        ValueError: One is no whole number of at least 1.
    """

    read_bytes: int = 1_000_000
    write_bytes: int = 1_000_000
    list_entries: int = 10_000
    output_bytes: int = 1_000_000

    def __post_init__(self) -> None:
        NativeSandbox.normalize("limits", asdict(self))

    @classmethod
    def of(cls, value: Any) -> Limits:
        """The limits that a declaration means: a dict of some of them, or nothing."""
        if isinstance(value, cls):
            return value
        given = dict(value) if isinstance(value, Mapping) else value
        return cls(**NativeSandbox.normalize("limits", given))

    def to_dict(self) -> dict[str, int]:
        """All four by name."""
        return asdict(self)
