"""Where named files are looked for: folders in order, and the walls around them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, init=False)
class LookupRoot:
    """A folder to search.

    Attributes:
        path: Its absolute path; symbolic links are left alone, and it need not exist.
        boundary: The folder that it must not leave once links are resolved, or None.
    """

    path: Path
    boundary: Path | None

    def __init__(self, path: PathLike, boundary: PathLike | None = None) -> None:
        """Takes paths; relative ones count from the current folder."""
        object.__setattr__(self, "path", _absolute(path))
        object.__setattr__(self, "boundary", None if boundary is None else _absolute(boundary))


def _absolute(path: PathLike) -> Path:
    # Not `resolve`, which would follow symbolic links now instead of at each look-up.
    return Path(os.path.abspath(os.fspath(path)))  # noqa: PTH100


class PathSet:
    """Folders in search order; earlier ones win. It never changes: `+` makes another one.

    paths = PathSet(["app/prompts"]) + ["shared/prompts"]
    """

    __slots__ = ("_roots",)

    def __init__(self, paths: Iterable[PathLike | LookupRoot] = ()) -> None:
        """Takes paths and `LookupRoot` values."""
        if isinstance(paths, (str, os.PathLike)):
            raise TypeError("paths must be a list of folders, not one path")
        self._roots: tuple[LookupRoot, ...] = tuple(
            path if isinstance(path, LookupRoot) else LookupRoot(path) for path in paths
        )

    @property
    def paths(self) -> tuple[LookupRoot, ...]:
        """The folders in search order."""
        return self._roots

    def __add__(self, other: PathSet | Iterable[PathLike | LookupRoot]) -> PathSet:
        """A new set that searches `other` after this one."""
        return PathSet([*self, *PathSet(other)])

    def __iter__(self) -> Iterator[LookupRoot]:
        """Each folder in search order."""
        return iter(self._roots)

    def __len__(self) -> int:
        """How many folders there are."""
        return len(self._roots)

    def __eq__(self, other: object) -> bool:
        """Whether both search the same folders in the same order."""
        return self._roots == other._roots if isinstance(other, PathSet) else NotImplemented

    def __hash__(self) -> int:
        """Of the folders."""
        return hash(self._roots)

    def __repr__(self) -> str:
        """Names the folders."""
        return f"PathSet({[str(root.path) for root in self._roots]})"
