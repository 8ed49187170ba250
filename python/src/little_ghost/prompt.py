"""Prompts as views: instructions in template files of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from . import _native
from .jsonable import to_jsonable
from .lookup import LookupRoot, PathSet

if TYPE_CHECKING:
    from .lookup import PathLike


@dataclass(frozen=True, slots=True, init=False)
class TrustedPath:
    """A folder of templates that application code chose for one request.

    It is the application's statement, not a check: nothing here can tell who may write into the
    folder. Never make one from a path that a request or a model supplied.

    Attributes:
        path: The real path of the folder.
    """

    path: Path

    def __init__(self, path: PathLike) -> None:
        """Resolves symbolic links at once.

        Raises:
            ValueError: There is no such folder.
        """
        if not os.fspath(path):
            # It would be the working directory.
            raise ValueError("the trusted path is empty")
        try:
            real = Path(path).resolve(strict=True)
        except OSError:
            raise ValueError(f"the trusted path {os.fspath(path)} does not exist") from None
        if not real.is_dir():
            raise ValueError(f"the trusted path {os.fspath(path)} is no folder")
        object.__setattr__(self, "path", real)


class PromptResolver:
    """Finds templates by name and renders them, in Jinja2 syntax.

        prompts = PromptResolver(["app/prompts"])
        text = prompts.render("support/system", {"product": "Acme"})

    `support/system` is the file `support/system.j2` or `support/system.jinja` in the first folder that has
    one. A template sees its locals and nothing else, and renders other files by
    `{{ partial("shared/voice", product=product) }}`: the file `shared/_voice.j2`, which sees only what it is
    passed. Nothing is escaped. A changed file is read again. Safe to use from any thread.
    """

    DEFAULT_MAX_DEPTH: ClassVar[int] = 20

    __slots__ = ("_native", "paths")

    def __init__(
        self,
        paths: PathSet | Iterable[PathLike | LookupRoot] = (),
        *,
        max_depth: int = DEFAULT_MAX_DEPTH,
    ) -> None:
        """Takes the folders to search.

        Args:
            paths: Folders, earlier ones first. Whoever can write there writes instructions for the models.
            max_depth: Templates that may be open inside each other.
        """
        self.paths = paths if isinstance(paths, PathSet) else PathSet(paths)
        roots = [
            (str(root.path), None if root.boundary is None else str(root.boundary))
            for root in self.paths
        ]
        self._native = _native.PromptResolver(roots, max_depth)

    def find(self, name: str, *, invocation_paths: Sequence[TrustedPath] = ()) -> Path | None:
        """The file of a template, or None when there is none.

        Raises:
            InvalidPromptTemplateError: The name is unsafe.
        """
        found = self._native.find(name, _trusted(invocation_paths))
        return None if found is None else Path(found)

    def render(
        self,
        name: str,
        locals: Mapping[str, Any] | None = None,
        *,
        invocation_paths: Sequence[TrustedPath] = (),
    ) -> str:
        """The text of a template.

        Args:
            name: Its name, relative to the folders.
            locals: What it may use, by name: values like those of JSON, and what can be turned into them.
            invocation_paths: Folders that come first in this call.

        Raises:
            MissingPromptTemplateError: No folder has such a file.
            MissingPromptLocalError: The template uses something that it was not given.
            InvalidPromptTemplateError: The name is unsafe, templates render themselves, or one is wrong.
            TypeError: A local cannot be turned into plain values.
            ValueError: A local has an unusable name.
        """
        values = {key: to_jsonable(value) for key, value in (locals or {}).items()}
        return self._native.render(name, values, _trusted(invocation_paths))

    def __repr__(self) -> str:
        """Names the folders."""
        return f"<PromptResolver {', '.join(str(root.path) for root in self.paths)}>"


def _trusted(paths: Sequence[TrustedPath]) -> list[str]:
    for path in paths:
        if not isinstance(path, TrustedPath):
            raise ValueError(
                "folders of templates for one call must be TrustedPath values, "
                f"not {type(path).__name__}"
            )
    return [str(path.path) for path in paths]
