"""The tools that a model can call in one run."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

from ..errors import ConfigurationError, ToolError
from .base import Tool
from .binding import UNBOUND, Binding

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class ToolRegistry:
    """Makes and binds tools, keeps their names apart, and closes those that it made.

        registry = ToolRegistry([OrderStatus, refund], Binding(agent=agent))
        registry.names  # ("order_status", "refund")

    A declaration is a `Tool` class, an instance, a function with `@tool`, a list of declarations, or a
    provider: a class or object whose method `tools(binding)` gives declarations. A tool whose
    `available_if` says no is left out before it is made.
    """

    __slots__ = ("_binding", "_owned", "_tools")

    def __init__(self, tools: Iterable[Any] = (), binding: Binding = UNBOUND) -> None:
        """Registers the tools.

        Args:
            tools: Declarations.
            binding: What the tools can reach.

        Raises:
            ConfigurationError: No usable declaration, a bad name, or one that is taken.
        """
        self._binding = binding
        self._tools: dict[str, Tool] = {}
        self._owned: list[Tool] = []
        self.register(list(tools))

    def register(self, declared: Any, *, replace: bool = False) -> ToolRegistry:
        """Adds tools.

        Args:
            declared: A declaration, or a list of them.
            replace: Take the place of tools with the same names; those that this registry made
                are closed.

        Returns:
            The registry itself.

        Raises:
            ConfigurationError: No usable declaration, a bad name, or one that is taken. Nothing is
                added then, and what was made is closed.
        """
        steps = self.collect(declared, replace=replace)
        try:
            given = next(steps)
            while True:
                if inspect.isawaitable(given):
                    getattr(given, "close", lambda: None)()
                    raise ConfigurationError(
                        "a provider with a coroutine function for tools works only in an agent's run"
                    )
                given = steps.send(given)
        except StopIteration:
            return self
        finally:
            steps.close()

    def collect(self, declared: Any, *, replace: bool = False) -> Generator[Any, Any, None]:
        """`register`, step by step: yields what each provider gave, which may be awaitable."""
        found: dict[str, Tool] = {}
        made: list[Tool] = []
        try:
            yield from self._collect(declared, found, made, replace)
        except BaseException:
            _close(made)
            raise
        replaced = [self._tools[name] for name in found if name in self._tools]
        self._tools.update(found)
        self._owned.extend(made)
        gone = [tool for tool in self._owned if any(tool is other for other in replaced)]
        self._owned = [tool for tool in self._owned if not any(tool is other for other in gone)]
        _close(gone)

    def _collect(
        self, declared: Any, found: dict[str, Tool], made: list[Tool], replace: bool
    ) -> Generator[Any, Any, None]:
        if isinstance(declared, (list, tuple)):
            for item in declared:
                yield from self._collect(item, found, made, replace)
        elif isinstance(declared, Tool) or (
            isinstance(declared, type) and issubclass(declared, Tool)
        ):
            if not available(declared, self._binding):
                return
            if isinstance(declared, type):
                tool = self._binding.bind(declared())
                made.append(tool)
            else:
                # An instance may serve several runs at once: each has a copy with a binding of its own.
                tool = self._binding.bind(copy.copy(declared)) if declared._binds else declared
            self._name(tool, found, replace)
        elif callable(getattr(declared, "tools", None)):
            provider = declared() if isinstance(declared, type) else declared
            given = yield provider.tools(self._binding)
            yield from self._collect(list(given or ()), found, made, replace)
        else:
            raise ConfigurationError(
                f"{declared!r} is no tool; give functions with @tool, Tool classes and instances, or "
                "providers with a method tools(binding)"
            )

    def _name(self, tool: Tool, found: dict[str, Tool], replace: bool) -> None:
        name = tool.name
        if not isinstance(name, str) or not _NAME.match(name):
            raise ConfigurationError(
                f"{name!r} is no name of a tool; use at most 64 letters, digits, _ and -"
            )
        if name in found or (name in self._tools and not replace):
            raise ConfigurationError(f"two tools are called {name}; give one another name")
        found[name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of registration."""
        return tuple(self._tools)

    @property
    def owned(self) -> tuple[Tool, ...]:
        """The tools that were made here, and are closed by `close`."""
        return tuple(self._owned)

    @property
    def specifications(self) -> list[dict[str, Any]]:
        """What models read of the tools."""
        return [tool.specification() for tool in self]

    def fetch(self, name: str) -> Tool:
        """The tool of that name.

        Raises:
            ToolError: There is none.
        """
        try:
            return self._tools[name]
        except KeyError:
            raise ToolError(f"there is no tool {name}") from None

    def as_dict(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return dict(self._tools)

    def close(self) -> None:
        """Closes the tools that were made here, the last one first. Doing it again changes nothing.

        Raises:
            Exception: The first failure, after all others were tried.
        """
        owned, self._owned = self._owned, []
        _close(owned)

    def __iter__(self) -> Iterator[Tool]:
        """The tools, in the order of registration."""
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        """Whether there is a tool of that name."""
        return name in self._tools


def available(declared: Tool | type[Tool], binding: Binding) -> bool:
    """Whether a tool says that it is of use for `binding`.

    Raises:
        ConfigurationError: It is a coroutine function, whose coroutine would count as yes.
    """
    own = None if isinstance(declared, type) else declared.__dict__.get("available_if")
    if own is None:
        cls = declared if isinstance(declared, type) else type(declared)
        # From the class, where a plain function takes the binding alone.
        own = cls.available_if
    if own is None:
        return True
    answer = own(binding)
    if inspect.isawaitable(answer):
        getattr(answer, "close", lambda: None)()
        name = declared.__name__ if isinstance(declared, type) else declared.name
        raise ConfigurationError(
            f"available_if of {name} must be a plain function; where the answer has to be awaited, "
            "let the agent's tools be a coroutine function"
        )
    return bool(answer)


def _close(tools: list[Tool]) -> None:
    failure: Exception | None = None
    for tool in reversed(tools):
        close = getattr(tool, "close", None)
        if callable(close):
            try:
                value = close()
                if inspect.isawaitable(value):
                    import asyncio

                    asyncio.run(_waited(value))
            except Exception as error:
                failure = failure or error
    if failure is not None:
        raise failure


async def _waited(value: Any) -> None:
    await value
