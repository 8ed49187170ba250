"""The parameters of a function as the input of a tool."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Union, get_args, get_origin

from ._native import tool_input_error_text
from .context import RunContext
from .docstring import parse_docstring
from .errors import ConfigurationError, ToolError
from .schema import NO_DEFAULT, Converter, SchemaBuilder, resolved_hints, with_default


@dataclass(slots=True)
class Signature:
    """How a model's input becomes the arguments of a function.

    Attributes:
        schema: JSON Schema of the input.
        converters: Makes annotated values, by parameter.
        context_name: The parameter that takes the `RunContext`, if any.
        input_name: The parameter that takes the whole input, when the schema was given.
    """

    schema: dict[str, Any]
    converters: dict[str, Converter] = field(default_factory=dict)
    context_name: str | None = None
    input_name: str | None = None

    def arguments(self, given: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
        """Keyword arguments for one call.

        Raises:
            ToolError: A value fits the schema but not its type, such as a Pydantic model.
        """
        arguments: dict[str, Any] = {}
        if self.input_name is not None:
            arguments[self.input_name] = dict(given)
        else:
            problems: list[str] = []
            for name, value in given.items():
                convert = self.converters.get(name)
                if convert is not None:
                    try:
                        value = convert(value)  # noqa: PLW2901
                    except (ValueError, TypeError) as problem:
                        problems.extend(_violations(name, problem))
                arguments[name] = value
            if problems:
                raise ToolError(tool_input_error_text(problems))
        if self.context_name is not None:
            arguments[self.context_name] = context
        return arguments


def _violations(name: str, problem: Exception) -> list[str]:
    errors = getattr(problem, "errors", None)
    if not callable(errors):
        return [f"$.{name} {problem}"]
    # Pydantic's own list; its `str` would repeat the input and link to a web page.
    found = []
    for error in errors():
        path = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]
        )
        found.append(f"$.{name}{path} {error['msg']}")
    return found


def read_signature(
    function: Callable[..., Any],
    owner: str,
    *,
    input_schema: Mapping[str, Any] | None = None,
    documentation: str | None = None,
    names: Mapping[str, Any] | None = None,
) -> Signature:
    """Reads the parameters of `function`.

    Args:
        function: A function, or a bound method.
        owner: Whose signature it is, for error messages.
        input_schema: A JSON Schema that replaces the hints; the function then takes the input as one dict.
        documentation: The docstring that describes the parameters.
        names: Local names where the function was written.

    Raises:
        ConfigurationError: A parameter that has no place in a tool.
    """
    written = written_function(function)
    if inspect.isgeneratorfunction(written) or inspect.isasyncgenfunction(written):
        raise ConfigurationError(f"{owner}: it yields, but a tool returns one value")
    hints = resolved_hints(written, owner, names)
    parameters = list(inspect.signature(function).parameters.values())
    context = next((p.name for p in parameters if _takes_context(p, hints)), None)
    inputs = [parameter for parameter in parameters if parameter.name != context]
    if input_schema is not None:
        return Signature(dict(input_schema), {}, context, _input_parameter(inputs, owner))
    builder = SchemaBuilder(owner)
    _, described = parse_docstring(documentation)
    properties: dict[str, Any] = {}
    required: list[str] = []
    converters: dict[str, Converter] = {}
    for parameter in inputs:
        _check(parameter, hints, owner)
        shape = builder.shape(hints[parameter.name], f"parameter {parameter.name}")
        schema = shape.schema
        if parameter.name in described and "description" not in schema:
            schema = {**schema, "description": described[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
            default = NO_DEFAULT
        else:
            default = parameter.default
        properties[parameter.name] = with_default(schema, default)
        if shape.convert is not None:
            converters[parameter.name] = shape.convert
    whole: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        whole["required"] = required
    whole["additionalProperties"] = False
    if builder.definitions:
        whole["$defs"] = builder.definitions
    return Signature(whole, converters, context)


def written_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a `partial` or a callable object stands for, which has name, text and hints."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or hasattr(function, "__wrapped__"):
        return function
    method: Callable[..., Any] = type(function).__call__.__get__(function)
    return method


def _takes_context(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    hint = hints.get(parameter.name)
    if _is_context(hint):
        return True
    return parameter.name == "context" and (hint is None or hint is Any)


def _is_context(hint: Any) -> bool:
    """Whether it is `RunContext`, with or without `Annotated` and `Optional`."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_context(get_args(hint)[0])
    if origin is Union or origin is types.UnionType:
        members = [member for member in get_args(hint) if member is not type(None)]
        return len(members) == 1 and _is_context(members[0])
    return hint is RunContext


def _input_parameter(inputs: list[inspect.Parameter], owner: str) -> str:
    needed = [p for p in inputs if p.default is p.empty or p is inputs[0]]
    if len(needed) != 1 or needed[0].kind in {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
        inspect.Parameter.POSITIONAL_ONLY,
    }:
        raise ConfigurationError(
            f"{owner}: with input_schema it takes the whole input as one parameter; "
            "write it as (input: dict)"
        )
    return needed[0].name


def _check(parameter: inspect.Parameter, hints: Mapping[str, Any], owner: str) -> None:
    if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise ConfigurationError(
            f"{owner}: {stars}{parameter.name} has no place in a JSON Schema; "
            "name each parameter, or pass input_schema"
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ConfigurationError(
            f"{owner}: parameter {parameter.name} is positional-only, but a model's arguments "
            "have names; remove the slash"
        )
    if parameter.name not in hints and parameter.name in {"self", "cls"}:
        raise ConfigurationError(
            f"{owner}: {parameter.name} shows that it is a method; pass the method of an object, "
            "such as tool(shop.find_order), or write a class X(Tool)"
        )
    if parameter.name not in hints:
        raise ConfigurationError(
            f"{owner}: parameter {parameter.name} has no annotation; "
            f"write its type, such as {parameter.name}: str"
        )
    default = type(parameter.default)
    if default.__module__.partition(".")[0] in {"pydantic", "fastapi"}:
        raise ConfigurationError(
            f"{owner}: the default of parameter {parameter.name} is a {default.__name__}, which "
            f"says nothing here; write {parameter.name}: Annotated[..., Field(...)] = value"
        )
