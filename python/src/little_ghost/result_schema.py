"""What an agent declares about its result."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from . import _native
from .errors import ConfigurationError
from .schema import SchemaBuilder

ResultStrategy: TypeAlias = Literal["auto", "provider", "tool"]
"""How a model is made to answer: by what it has, by the provider's structured output, by a final tool call."""


class ResultSchema:
    """The object that an agent must return, of a declared shape.

    A class is enough for most agents: `result = Triage`. This says more:

        class TriageAgent(Agent):
            result = ResultSchema(Triage, name="support_triage", strategy="tool")

    Of a dataclass, a TypedDict or a Pydantic model the JSON Schema is made, with all fields required; a
    field that may be absent is one that may be None. A schema of your own must close each object
    (`"additionalProperties": False`) and list all its properties in `required`.
    """

    __slots__ = ("_declared", "_read")

    def __init__(
        self,
        schema: type | Mapping[str, Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strategy: ResultStrategy = "auto",
    ) -> None:
        """Checks and keeps the declaration.

        Args:
            schema: A dataclass, TypedDict or Pydantic model, or a JSON Schema.
            name: 1 to 64 letters, digits, underscores or hyphens; `<agent name>_result` by default.
            description: What the result is for, as the model reads it.
            strategy: How the model is made to give it.

        Raises:
            ConfigurationError: The schema cannot describe a result; the message says where.
        """
        declared: dict[str, Any] = {"strategy": strategy}
        self._read: Callable[[Any], Any] | None = None
        if isinstance(schema, Mapping):
            declared["schema"] = dict(schema)
        elif _is_record(schema):
            declared["schema"], self._read = _derived(schema)
            declared["derived"] = True
            description = description or _documentation(schema)
        else:
            raise ConfigurationError(
                "result must be a dataclass, a TypedDict, a Pydantic model, a dict with a JSON "
                f"Schema or a ResultSchema, not {schema!r}"
            )
        if name is not None:
            declared["name"] = name
        if description is not None:
            declared["description"] = description
        _native.check_agent({"result_schema": declared})
        self._declared = declared

    @classmethod
    def of(cls, declared: ResultSchema | type | Mapping[str, Any]) -> ResultSchema:
        """The schema that an agent declares in any of the forms.

        Raises:
            ConfigurationError: As the constructor.
        """
        if isinstance(declared, ResultSchema):
            return declared
        return _of_type(declared) if isinstance(declared, type) else cls(declared)

    def read(self, value: Mapping[str, Any]) -> Any:
        """An instance of the declared class for a value that fits the schema; the value itself for a schema."""
        return value if self._read is None else self._read(value)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as the engine takes it."""
        return self._declared

    def __repr__(self) -> str:
        """Names the result."""
        return f"ResultSchema(name={self._declared.get('name')!r})"


def declared_result(agent: Any) -> ResultSchema | None:
    """The schema of an agent's result, if it declares one."""
    declared = getattr(agent, "result", None)
    return None if declared is None else ResultSchema.of(declared)


@lru_cache(maxsize=256)
def _of_type(declared: type) -> ResultSchema:
    return ResultSchema(declared)


def _is_record(hint: Any) -> bool:
    if not isinstance(hint, type):
        return False
    return (
        dataclasses.is_dataclass(hint)
        or typing.is_typeddict(hint)
        or (hasattr(hint, "model_json_schema") and hasattr(hint, "model_validate"))
    )


def _derived(hint: type) -> tuple[dict[str, Any], Callable[[Any], Any] | None]:
    builder = SchemaBuilder(f"result {hint.__name__}")
    shape = builder.shape(hint, "the result")
    schema = dict(shape.schema)
    if builder.definitions:
        schema["$defs"] = builder.definitions
    return schema, shape.convert


def _documentation(hint: type) -> str | None:
    # Python writes a text of its own for a dataclass without one.
    text = hint.__dict__.get("__doc__")
    if not text or text.startswith(f"{hint.__name__}("):
        return None
    return inspect.cleandoc(text)
