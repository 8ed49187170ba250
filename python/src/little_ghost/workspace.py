"""The files of a run, by stable names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ._native import Workspace as NativeWorkspace
from .calling import call_with, settle
from .job import answer, answer_async
from .managed import Managed
from .provider_names import ProviderNames

if TYPE_CHECKING:
    from typing_extensions import Self

    from .run import Run


class Workspace(Managed):
    """Host paths by stable names: a root, and named paths in it or elsewhere.

    A `Sandbox` decides who may do what there.

        with Workspace("tmp/support-run", {"skills": "skills"}) as workspace:
            workspace.resolve("workspace://skills/refunds.md")

    Opening creates the root and relative paths; absolute ones must exist. Closing removes nothing: a
    `teardown` may. Who shares a writable root among runs has to keep them apart.

    Attributes:
        root: The root, absolute.
        paths: The named paths, absolute.
        environment: Variables that tell child processes where root and named paths are.
    """

    __slots__ = (
        "__weakref__",
        "_native",
        "_run",
        "_setup",
        "_teardown",
        "environment",
        "paths",
        "root",
    )

    _providers: ClassVar[ProviderNames] = ProviderNames("workspace", "directory")

    def __init__(
        self,
        root: str | os.PathLike[str],
        paths: Mapping[str, str | os.PathLike[str]] | None = None,
        *,
        setup: Callable[..., Any] | None = None,
        teardown: Callable[..., Any] | None = None,
    ) -> None:
        """Makes all paths absolute; nothing is created yet.

        Args:
            root: The root.
            paths: Paths by name. Relative ones must stay below the root.
            setup: Called once when the workspace opens, before anything is created. It may take
                `workspace` and `run`, and may be a coroutine function.
            teardown: Called once, in the same way, when it closes or when opening it failed.

        Raises:
            ValueError: A name or a path is unusable.
        """
        for name, code in (("setup", setup), ("teardown", teardown)):
            if code is not None and not callable(code):
                raise TypeError(f"{name} must be a function, not {type(code).__name__}")
        if paths is not None and not isinstance(paths, Mapping):
            raise TypeError(f"paths must be a dict of names and paths, not {type(paths).__name__}")
        named = {name: os.fspath(path) for name, path in (paths or {}).items()}
        native = NativeWorkspace({"root": os.fspath(root), "paths": named})
        self._hold(native, setup, teardown)

    def _hold(
        self,
        native: NativeWorkspace,
        setup: Callable[..., Any] | None,
        teardown: Callable[..., Any] | None,
    ) -> None:
        self._native = native
        self._setup = setup
        self._teardown = teardown
        self._run: Run | None = None
        info = self._native.info()
        self.root = Path(info["root"])
        self.paths: Mapping[str, Path] = MappingProxyType(
            {name: Path(path) for name, path in info["paths"].items()}
        )
        self.environment: Mapping[str, str] = MappingProxyType(info["environment"])

    @classmethod
    def _adopt(cls, number: int) -> Workspace:
        """The workspace that the engine handed over by number; it is open."""
        made = cls.__new__(cls)
        made._hold(NativeWorkspace.adopt(number), None, None)
        return made

    @classmethod
    def register_provider(cls, name: str, provider: Callable[..., Any]) -> None:
        """Has configurations mean a class or a function by a name, in all of the process.

        Args:
            name: The name.
            provider: A subclass, made with the declared options; or a function, which may take
                `runtime`, `invocation` and the options, and may be a coroutine function.
        """
        cls._providers.register(name, provider)

    @classmethod
    def resolve_provider(cls, name: str) -> Callable[..., Any]:
        """What is registered as `name`; `"directory"` is this class.

        Raises:
            DependencyError: Nothing is.
        """
        return Workspace if name == "directory" else cls._providers.resolve(name)

    def open(self, run: Run | None = None) -> Self:
        """Sets up, creates what is missing, and records which directories the names stand for.

        Doing it again changes nothing.

        Args:
            run: What setup and teardown are told of.

        Returns:
            The workspace itself.

        Raises:
            ValueError: An absolute path does not exist, or two names are one directory.
            ToolError: It was closed.
            Exception: What the setup raised. The teardown has run by then.
        """
        if answer(self._native.begin_opening()):
            try:
                settle(self._call(self._setup, run), "use open_async or async with")
                answer(self._native.record())
            except Exception:
                try:
                    settle(self._call(self._teardown, run), "use open_async or async with")
                finally:
                    self._native.give_up()
                raise
            except BaseException:
                self._native.cut_off()
                raise
            finally:
                self._run = run
        return self

    async def open_async(self, run: Run | None = None) -> Self:
        """`open` for asyncio."""
        if await answer_async(self._native.begin_opening()):
            try:
                await _awaited(self._call(self._setup, run))
                await answer_async(self._native.record())
            except Exception:
                try:
                    await _awaited(self._call(self._teardown, run))
                finally:
                    self._native.give_up()
                raise
            except BaseException:
                self._native.cut_off()
                raise
            finally:
                self._run = run
        return self

    def close(self) -> None:
        """Tears down, once. Files stay unless the teardown removes them."""
        if answer(self._native.begin_closing()):
            settle(self._call(self._teardown, self._run), "use close_async or async with")

    async def close_async(self) -> None:
        """`close` for asyncio."""
        if await answer_async(self._native.begin_closing()):
            await _awaited(self._call(self._teardown, self._run))

    def path(self, name: str) -> Path:
        """The path of that name.

        Raises:
            KeyError: There is none.
        """
        return self.resolve(f"workspace://{name}")

    def resolve(self, reference: str | os.PathLike[str]) -> Path:
        """The host path of a logical one: relative to the root, or `workspace://name/path`.

        It only looks at the text; what a model chose is opened by a `Sandbox`.

        Raises:
            ValueError: It is empty or absolute, or contains `..`.
            KeyError: There is no path of that name.
        """
        return Path(self._native.resolve(os.fspath(reference)))

    def reference(self, path: str | os.PathLike[str]) -> str:
        """The logical path of a host path, by the longest path that contains it; `"."` for the root.

        Raises:
            ValueError: It is outside.
        """
        return self._native.reference(os.fspath(path))

    def validate(self) -> Self:
        """Returns the workspace while its directories are those that they were when it opened.

        Raises:
            ToolError: One was replaced.
        """
        self._native.validate()
        return self

    def _premises_kind(self) -> str:
        return "workspace"

    def _call(self, code: Callable[..., Any] | None, run: Run | None) -> Any:
        return None if code is None else call_with(code, workspace=self, run=run)

    def __repr__(self) -> str:
        """Names the root."""
        return f"<{type(self).__name__} {str(self.root)!r}>"


async def _awaited(value: Any) -> Any:
    import inspect

    return await value if inspect.isawaitable(value) else value
