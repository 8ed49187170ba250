"""Tools: what an agent may ask your application to do."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, ParamSpec, TypeVar, overload

from ._native import ToolDefinition, tool_failure_text, tool_input_error_text, tool_value_text
from .context import RunContext
from .docstring import parse_docstring
from .errors import (
    AbstractMethodError,
    CancelledError,
    CleanupError,
    ConfigurationError,
    DeadlineExceededError,
    ToolError,
    describe_exception,
)
from .jsonable import to_jsonable

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .signature import Signature

P = ParamSpec("P")
R = TypeVar("R")


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


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What `Tool.execute` returns.

    Attributes:
        value: What the tool returned, untouched; None when it failed.
        content: What a model would read.
        status: `"success"` or `"error"`.
        error: The exception that the tool raised, or None.
    """

    value: Any
    content: str
    status: Literal["success", "error"]
    error: Exception | None = None


class Tool:
    """One operation that a model can call, as a class.

    Write a typed `call`; its hints become the schema that the model reads and the engine enforces:

        class OrderStatus(Tool):
            \"\"\"Look up an order of the current customer.\"\"\"

            def call(self, order_number: str, context: RunContext) -> str:
                actor = context.run.invocation.actor_id
                return ORDERS[actor, order_number]

    For a single function, `@tool` is shorter. `call` may be a coroutine function. A class in an
    agent's `tools` is made anew for each run, and closed with it if it has a `close` method.

    Attributes:
        name: What the model calls; by default the class name in snake case.
        description: What the model reads; by default the first paragraph of the docstring.
        input_schema: A JSON Schema instead of the hints; `call` then takes the input as one dict.
        exclusive: Calls of exclusive tools never overlap within one run.
    """

    name: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    exclusive: bool = False

    _signatures: ClassVar[dict[type, Signature]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Fills in the defaults and checks the declaration."""
        super().__init_subclass__(**keywords)
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)
        if "description" not in cls.__dict__ and cls.__doc__:
            cls.description = parse_docstring(cls.__doc__)[0]
        for attribute, expected in (("name", str), ("description", str), ("exclusive", bool)):
            value = getattr(cls, attribute)
            # A subclass may compute one with a property.
            if not isinstance(value, (expected, property)):
                raise ConfigurationError(
                    f"{cls.__name__}.{attribute} must be a {expected.__name__}, "
                    f"not {type(value).__name__}"
                )
        if cls.input_schema is not None and not isinstance(cls.input_schema, (Mapping, property)):
            raise ConfigurationError(
                f"{cls.__name__}.input_schema must be a dict with a JSON Schema, "
                f"not {type(cls.input_schema).__name__}"
            )
        computed = "invoke" in cls.__dict__ or isinstance(cls.input_schema, property)
        if "call" in cls.__dict__ and not computed:
            cls._signature_names = caller_names(1)
            Tool._signature(cls)

    _signature_names: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def _signature(target: type[Tool] | Tool) -> Signature:
        cls = target if isinstance(target, type) else type(target)
        known = Tool._signatures.get(cls)
        if known is None:
            from .signature import read_signature

            schema = target.input_schema
            if cls.call is Tool.call:
                raise AbstractMethodError(f"{cls.__name__} has no call method; write one")
            known = read_signature(
                # The function of the class would show `self` as a parameter.
                object.__new__(cls).call,
                f"tool {cls.__name__}",
                input_schema=None if isinstance(schema, property) else schema,
                documentation=_documentation(cls),
                names=cls._signature_names,
            )
            Tool._signatures[cls] = known
        return known

    def call(self, *arguments: Any, **keywords: Any) -> Any:
        """Does the work; subclasses write it with typed parameters.

        Raises:
            ToolError: An expected failure, whose message the model may read.
        """
        raise AbstractMethodError(f"{type(self).__name__} has no call method; write one")

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the input."""
        return self._signature(self).schema

    @property
    def is_async(self) -> bool:
        """Whether `call` is a coroutine function."""
        return inspect.iscoroutinefunction(self.call)

    def specification(self) -> dict[str, Any]:
        """Name, description, schema and exclusiveness, as the engine takes them."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.schema),
            "exclusive": self.exclusive,
        }

    def invoke(self, given: Mapping[str, Any], context: RunContext) -> Any:
        """Calls the tool with input that fits the schema; may return an awaitable.

        Each call works on a shallow copy, so attributes that a call sets are its own.
        """
        arguments = self._signature(self).arguments(given, context)
        return copy.copy(self).call(**arguments)

    def execute(self, given: Mapping[str, Any], context: RunContext | None = None) -> ToolOutcome:
        """Validates input and calls the tool, without an agent: for tests and direct use.

        An asynchronous tool runs in an event loop of its own; where a loop is running already, use
        `execute_async`.

        Args:
            given: The input, as a model would write it.
            context: The context to pass; by default an empty one.

        Raises:
            CancelledError, DeadlineExceededError, CleanupError: They stop a run and are no outcome.
            ConfigurationError, AbstractMethodError: The declaration is unusable.
        """
        try:
            self._validate(given)
            value = self.invoke(given, context or RunContext())
            if inspect.isawaitable(value):
                import asyncio

                value = asyncio.run(_waited(value))
        except Exception as error:
            return _failed(error)
        return _succeeded(value)

    async def execute_async(
        self, given: Mapping[str, Any], context: RunContext | None = None
    ) -> ToolOutcome:
        """`execute` for coroutines; a plain tool runs right here, without a thread."""
        try:
            self._validate(given)
            value = self.invoke(given, context or RunContext())
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            return _failed(error)
        return _succeeded(value)

    def _validate(self, given: Mapping[str, Any]) -> None:
        definition = ToolDefinition(self.name, self.description, dict(self.schema))
        violations = definition.violations(dict(given))
        if violations:
            raise ToolError(tool_input_error_text(violations))

    def __repr__(self) -> str:
        """Names the tool."""
        return f"<{type(self).__name__} {self.name!r}>"


class FunctionTool(Tool, Generic[P, R]):
    """A function with `@tool`. Calling it calls the function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        exclusive: bool = False,
        input_schema: Mapping[str, Any] | None = None,
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
        # Here and not above: programs that use no tool do not pay for it.
        from .signature import read_signature, written_function

        written = written_function(function)
        own_name, documentation = _described(function, written)
        read, _ = parse_docstring(documentation)
        self.function = function
        self.name = name or own_name
        self.description = read if description is None else description
        self.exclusive = exclusive
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
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    exclusive: bool = False,
    input_schema: Mapping[str, Any] | None = None,
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
            names=names,
        )

    return decorate if function is None else decorate(function)


def caller_names(depth: int) -> dict[str, Any]:
    """Local names of a calling function, so that quoted hints may use its local classes."""
    try:
        return dict(sys._getframe(depth + 1).f_locals)
    except ValueError:
        return {}


_KINDS: dict[type, str] = {str: "str", bool: "bool", Mapping: "dict with a JSON Schema"}


def _described(function: Callable[..., Any], written: Callable[..., Any]) -> tuple[str, str | None]:
    name: str = getattr(written, "__name__", "")
    if name == "__call__":
        # A callable object is named after its class, as a Tool is.
        return snake_case(type(function).__name__), written.__doc__ or type(function).__doc__
    return name, inspect.getdoc(written)


def failure_text(error: Exception) -> str:
    """What a model reads about a failed call: never the message of an unexpected exception."""
    return tool_failure_text(describe_exception(error, 0))


def _documentation(cls: type[Tool]) -> str:
    """The docstrings of the class and of its `call`: either may describe the parameters."""
    return "\n\n".join(inspect.cleandoc(text) for text in (cls.__doc__, cls.call.__doc__) if text)


async def _waited(value: Awaitable[Any]) -> Any:
    return await value


def _succeeded(value: Any) -> ToolOutcome:
    try:
        content = tool_value_text(to_jsonable(value))
    except Exception as error:
        return ToolOutcome(value, failure_text(error), "error", error)
    return ToolOutcome(value, content, "success")


_PASSING = (
    AbstractMethodError,
    CancelledError,
    CleanupError,
    ConfigurationError,
    DeadlineExceededError,
)


def _failed(error: Exception) -> ToolOutcome:
    if isinstance(error, _PASSING):
        raise error
    return ToolOutcome(None, failure_text(error), "error", error)
