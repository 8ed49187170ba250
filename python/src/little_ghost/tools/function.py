"""Tools as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, overload

from .._native import ToolDefinition
from ..context import RunContext
from ..docstring import parse_docstring
from ..errors import ConfigurationError
from ..naming import caller_names, snake_case
from .base import Tool
from .binding import Binding

P = ParamSpec("P")
R = TypeVar("R")


class FunctionTool(Tool, Generic[P, R]):
    """A function with `@tool`. Calling it calls the function."""

    # It reaches its run through the `RunContext`, and stays the one object that it is.
    _binds = False

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        exclusive: bool = False,
        input_schema: Mapping[str, Any] | None = None,
        available_if: Callable[[Binding], bool] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        if not callable(function) or isinstance(function, (type, Tool)):
            raise ConfigurationError(
                f"@tool takes a function, not {function!r}; for a class, write class X(Tool)"
            )
        for option, value, expected in (
            ("name", name, str),
            ("description", description, str),
            ("exclusive", exclusive, bool),
            ("input_schema", input_schema, Mapping),
        ):
            if value is not None and not isinstance(value, expected):
                raise ConfigurationError(
                    f"@tool({option}=...) must be a {_KINDS[expected]}, not {type(value).__name__}"
                )
        if available_if is not None and not callable(available_if):
            raise ConfigurationError(
                f"@tool(available_if=...) must be a function of the binding, "
                f"not {type(available_if).__name__}"
            )
        # Here and not above: programs that use no tool do not pay for it.
        from ..signature import read_signature, written_function

        written = written_function(function)
        own_name, documentation = _described(function, written)
        read, _ = parse_docstring(documentation)
        self.function = function
        self.name = name or own_name
        self.description = read if description is None else description
        self.exclusive = exclusive
        if available_if is not None:
            self.__dict__["available_if"] = available_if
        self._read = read_signature(
            function,
            f"tool {self.name}",
            input_schema=input_schema,
            documentation=documentation,
            names=names,
        )
        # Checked here, so that a mistake shows where it was made and not in the first run.
        try:
            ToolDefinition(self.name, self.description, self._read.schema)
        except (TypeError, ValueError) as problem:
            raise ConfigurationError(f"tool {self.name}: bad input schema: {problem}") from None
        self._is_async = inspect.iscoroutinefunction(written)
        self.__doc__ = documentation
        self.__module__ = written.__module__
        self.__name__: str = getattr(written, "__name__", self.name)
        self.__qualname__: str = getattr(written, "__qualname__", self.name)
        self.__wrapped__ = function

    def __reduce__(self) -> str:
        """Pickled as functions are: by name."""
        return self.__qualname__

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the input."""
        return self._read.schema

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return self._is_async

    def invoke(self, given: Mapping[str, Any], context: RunContext) -> Any:
        """Calls the function with input that fits the schema; may return an awaitable."""
        function: Callable[..., Any] = self.function
        return function(**self._read.arguments(given, context))

    def call(self, *arguments: Any, **keywords: Any) -> Any:
        """Calls the function."""
        function: Callable[..., Any] = self.function
        return function(*arguments, **keywords)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Calls the function, as if it had no decorator."""
        return self.function(*arguments, **keywords)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    exclusive: bool = False,
    input_schema: Mapping[str, Any] | None = None,
    available_if: Callable[[Binding], bool] | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    exclusive: bool = False,
    input_schema: Mapping[str, Any] | None = None,
    available_if: Callable[[Binding], bool] | None = None,
) -> Any:
    """Makes a typed function, plain or async, a tool.

        @tool
        def order_status(order_number: str, context: RunContext) -> str:
            \"\"\"Look up an order of the current customer.\"\"\"
            return ORDERS[context.run.invocation.actor_id, order_number]

    The schema comes from the hints: str, int, float, bool, None, Literal, Enum, Optional, Union, list,
    dict, tuple, set, dataclasses, TypedDicts and Pydantic models; the function gets values of those
    types. What a parameter means comes from an `Args:` section of the docstring or from
    `Annotated[..., "description"]`; Pydantic's `Annotated[int, Field(ge=1)]` limits values. A parameter
    with a default is optional. A parameter annotated `RunContext`, or named `context`, gets the
    context and is no part of the schema.

    Args:
        function: The function; left out when there are options.
        name: What the model calls; by default the function's name.
        description: What the model reads; by default the first paragraph of the docstring.
        exclusive: Calls of exclusive tools never overlap within one run.
        input_schema: A JSON Schema instead of the hints; the function then takes the input as one dict.
        available_if: Says whether the tool is of use in a run; see `Binding`.

    Raises:
        ConfigurationError: No description, a parameter without a usable annotation, or a bad schema.
    """
    names = caller_names(1)

    def decorate(function: Callable[..., Any]) -> FunctionTool[..., Any]:
        return FunctionTool(
            function,
            name=name,
            description=description,
            exclusive=exclusive,
            input_schema=input_schema,
            available_if=available_if,
            names=names,
        )

    return decorate if function is None else decorate(function)


_KINDS: dict[Any, str] = {
    str: "str",
    bool: "bool",
    Mapping: "dict with a JSON Schema",
}


def _described(function: Callable[..., Any], written: Callable[..., Any]) -> tuple[str, str | None]:
    name: str = getattr(written, "__name__", "")
    if name == "__call__":
        # A callable object is named after its class, as a Tool is.
        return snake_case(type(function).__name__), written.__doc__ or type(function).__doc__
    return name, inspect.getdoc(written)
