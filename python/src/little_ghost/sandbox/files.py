"""Operations on the files of a sandbox or of a scope."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

from ..job import answer, answer_async

if TYPE_CHECKING:
    from .._native import Sandbox as NativeSandbox
    from ..context import RunContext

Path: TypeAlias = "str | os.PathLike[str]"


class Files:
    """File operations, which the engine does: each part of a path is opened without following links.

    A path is relative to the root of the workspace, or `workspace://name/path`. A context ends an
    operation by its cancellation or its deadline. What cannot be done is a `ToolError`, whose message a model
    may read; a name that the workspace does not have is a `KeyError`.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _files(self) -> NativeSandbox:
            """The engine's side."""

    @property
    def writable(self) -> bool:
        """Whether tools may change any file."""
        return bool(self._files.info()["writable"])

    def allows(self, operation: str, path: Path | None = None) -> bool:
        """Whether an operation is allowed, at all or at a path.

        Args:
            operation: A feature, such as `"read"`.
            path: Where.
        """
        return self._files.allows(operation, None if path is None else os.fspath(path))

    def read(self, path: Path, *, context: RunContext | None = None) -> str:
        """The text of a file, which must be UTF-8."""
        text: str = answer(self._file("read", path), context)
        return text

    async def read_async(self, path: Path, *, context: RunContext | None = None) -> str:
        """`read` for asyncio."""
        text: str = await answer_async(self._file("read", path), context)
        return text

    def list(self, path: Path = ".", *, context: RunContext | None = None) -> str:
        """The entries of a directory: sorted, one a line, with a slash behind directories."""
        text: str = answer(self._file("list", path), context)
        return text

    async def list_async(self, path: Path = ".", *, context: RunContext | None = None) -> str:
        """`list` for asyncio."""
        text: str = await answer_async(self._file("list", path), context)
        return text

    def write(self, path: Path, content: str, *, context: RunContext | None = None) -> str:
        """Writes a whole file, in a directory that exists; gives a sentence that says so."""
        text: str = answer(self._file("write", path, content=content), context)
        return text

    async def write_async(
        self, path: Path, content: str, *, context: RunContext | None = None
    ) -> str:
        """`write` for asyncio."""
        text: str = await answer_async(self._file("write", path, content=content), context)
        return text

    def replace(
        self, path: Path, old_text: str, new_text: str, *, context: RunContext | None = None
    ) -> str:
        """Replaces a text that a file has exactly once; gives a sentence that says so."""
        job = self._file("replace", path, old_text=old_text, new_text=new_text)
        text: str = answer(job, context)
        return text

    async def replace_async(
        self, path: Path, old_text: str, new_text: str, *, context: RunContext | None = None
    ) -> str:
        """`replace` for asyncio."""
        job = self._file("replace", path, old_text=old_text, new_text=new_text)
        text: str = await answer_async(job, context)
        return text

    def _file(self, operation: str, path: Path, **more: str) -> Any:
        return self._files.perform({"op": operation, "path": os.fspath(path), **more})
