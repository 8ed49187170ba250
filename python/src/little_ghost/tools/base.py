"""Tools as classes: what an agent may ask your application to do."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from .._native import ToolDefinition, tool_input_error_text
from ..context import RunContext
from ..docstring import parse_docstring
from ..errors import AbstractMethodError, ConfigurationError, ToolError
from ..naming import caller_names, snake_case
from .binding import UNBOUND, Binding
from .outcome import ToolOutcome, failed, succeeded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..part import Part
    from ..signature import Signature


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
        available_if: A function of the `Binding`, or a class method, that says whether the tool is of
            use in a run; without it the tool always is.
    """

    name: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    exclusive: bool = False
    # With any arguments for type checkers, which would not let a class method take its place otherwise.
    available_if: ClassVar[Callable[..., bool] | None] = None

    _binding: Binding = UNBOUND
    _binds: ClassVar[bool] = True

    # Weak, so that a class that is made for one request can go.
    _signatures: ClassVar[WeakKeyDictionary[type, Signature]] = WeakKeyDictionary()

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
            if not callable(cls.call):
                raise ConfigurationError(
                    f"{cls.__name__}.call must be a method, not {type(cls.call).__name__}"
                )
            cls._signature_names = caller_names(1)
            Tool._signature(cls)

    _signature_names: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def _signature(target: type[Tool] | Tool) -> Signature:
        cls = target if isinstance(target, type) else type(target)
        known = Tool._signatures.get(cls)
        if known is None:
            from ..signature import read_signature

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
    def binding(self) -> Binding:
        """What the tool can reach of the run that it works for; empty outside of runs."""
        return self._binding

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

    def _describe(self, part: Part) -> dict[str, Any]:
        """What the engine learns of it for one part of a run."""
        return self.specification()

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
            return failed(error)
        return succeeded(value)

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
            return failed(error)
        return succeeded(value)

    def _validate(self, given: Mapping[str, Any]) -> None:
        definition = ToolDefinition(self.name, self.description, dict(self.schema))
        violations = definition.violations(dict(given))
        if violations:
            raise ToolError(tool_input_error_text(violations))

    def __repr__(self) -> str:
        """Names the tool."""
        return f"<{type(self).__name__} {self.name!r}>"


def _documentation(cls: type[Tool]) -> str:
    """The docstrings of the class and of its `call`: either may describe the parameters."""
    return "\n\n".join(inspect.cleandoc(text) for text in (cls.__doc__, cls.call.__doc__) if text)


async def _waited(value: Awaitable[Any]) -> Any:
    return await value
