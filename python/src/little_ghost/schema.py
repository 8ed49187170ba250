"""Type hints as JSON Schema, and JSON values as the types of the hints.

One walk over a hint gives a `Shape`: the schema that a model reads and the engine enforces, and
the conversion from a value that fits the schema to what the annotation promises.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import ConfigurationError

Converter = Callable[[Any], Any]


@dataclass(slots=True)
class Shape:
    """What one hint means.

    Attributes:
        schema: JSON Schema of the value.
        accepts: Whether a JSON value belongs to this hint; used to choose a member of a union.
        convert: Makes the annotated type from a JSON value; None where it is one already.
    """

    schema: dict[str, Any]
    accepts: Callable[[Any], bool]
    convert: Converter | None = None

    def read(self, value: Any) -> Any:
        """The annotated value for a JSON value that fits the schema."""
        return value if self.convert is None else self.convert(value)


def _is_integer(value: Any) -> bool:
    # JSON Schema counts 2.0 as an integer.
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _anything(_value: Any) -> bool:
    return True


def _scalar(value: Any) -> Any:
    # Members of an Enum in a Literal, and values of a subclass such as StrEnum's.
    if isinstance(value, enum.Enum):
        value = value.value
    for plain in (str, bool, int, float):
        if isinstance(value, plain):
            return plain(value)
    return value


def _of_type(*expected: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, expected)


_JSON_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _plain(hint: Any) -> Shape | None:
    if hint is Any or hint is object:
        return Shape({}, _anything)
    if hint is str:
        return Shape({"type": "string"}, _of_type(str))
    if hint is bool:
        return Shape({"type": "boolean"}, _of_type(bool))
    if hint is int:
        return Shape({"type": "integer"}, _is_integer, int)
    if hint is float:
        return Shape({"type": "number"}, _is_number, float)
    if hint is None or hint is type(None):
        return Shape({"type": "null"}, lambda value: value is None)
    return None


class SchemaBuilder:
    """Builds the schema of one tool.

    Attributes:
        definitions: Named schemas that others refer to: recursive types and those of Pydantic.
    """

    def __init__(self, owner: str) -> None:
        """Starts a schema.

        Args:
            owner: Whose schema it is, for error messages.
        """
        self.owner = owner
        self.definitions: dict[str, Any] = {}
        self._open: dict[type, Shape] = {}
        self._referenced: set[type] = set()

    def shape(self, hint: Any, where: str) -> Shape:
        """The shape of `hint`.

        Args:
            hint: A resolved type hint.
            where: What carries the hint, for error messages.

        Raises:
            ConfigurationError: The hint has no JSON Schema.
        """
        if isinstance(hint, typing.NewType):
            return self.shape(hint.__supertype__, where)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(arguments, where)
        if origin is Literal:
            return self._choice([(_scalar(value), value) for value in arguments], where)
        if origin is Union or origin is types.UnionType:
            return self._union(arguments, where)
        plain = _plain(hint)
        if plain is not None:
            return plain
        found = self._container(hint if origin is None else origin, arguments, where)
        if found is None and origin is None and isinstance(hint, type):
            found = self._class(hint, where)
        if found is None:
            raise ConfigurationError(
                f"{self.owner}: {where} is annotated {_name(hint)}, which has no JSON Schema; use "
                "str, int, float, bool, None, Literal, an Enum, Optional, a Union, list, dict, "
                "tuple, set, a dataclass, a TypedDict or a Pydantic model, or pass input_schema"
            )
        return found

    def _annotated(self, arguments: tuple[Any, ...], where: str) -> Shape:
        pydantic = sys.modules.get("pydantic")
        if pydantic is not None and any(constrains(extra) for extra in arguments[1:]):
            shape = self._adapted(pydantic.TypeAdapter, Annotated[arguments], where)
        else:
            shape = self.shape(arguments[0], where)
        texts = [extra for extra in arguments[1:] if isinstance(extra, str)]
        if texts:
            shape = dataclasses.replace(shape, schema={**shape.schema, "description": texts[0]})
        return shape

    def _choice(self, choices: Sequence[tuple[Any, Any]], where: str) -> Shape:
        # Pairs and no mapping: True and 1 are equal keys, but different choices.
        values = [value for value, _ in choices]
        names = {_JSON_NAMES.get(type(value)) for value in values}
        if None in names:
            raise ConfigurationError(
                f"{self.owner}: {where} has choices that are no JSON scalars: {values!r}; "
                "use strings, numbers, booleans or None"
            )

        def find(value: Any) -> Any:
            for candidate, member in choices:
                if candidate == value and isinstance(candidate, bool) == isinstance(value, bool):
                    return member
            raise ValueError(f"{value!r} is not one of {values}")

        def accepts(value: Any) -> bool:
            return any(
                candidate == value and isinstance(candidate, bool) == isinstance(value, bool)
                for candidate in values
            )

        schema: dict[str, Any] = {"type": names.pop()} if len(names) == 1 else {}
        schema["enum"] = values
        return Shape(schema, accepts, find)

    def _union(self, arguments: tuple[Any, ...], where: str) -> Shape:
        shapes = [self.shape(argument, where) for argument in arguments]

        def convert(value: Any) -> Any:
            failure: ValueError | None = None
            for shape in shapes:
                if shape.accepts(value):
                    try:
                        return shape.read(value)
                    except ValueError as problem:
                        failure = problem
            if failure is not None:
                raise failure
            return value

        return Shape(
            {"anyOf": [shape.schema for shape in shapes]},
            lambda value: any(shape.accepts(value) for shape in shapes),
            convert if any(shape.convert for shape in shapes) else None,
        )

    def _container(self, hint: Any, arguments: tuple[Any, ...], where: str) -> Shape | None:
        if not isinstance(hint, type):
            return None
        if hint is tuple and arguments and arguments[-1] is not Ellipsis:
            return self._fixed_tuple(arguments, where)
        if hint in _ARRAYS:
            make, unique = _ARRAYS[hint]
            return self._array(arguments[0] if arguments else Any, make, unique, where)
        if hint in _OBJECTS:
            return self._mapping(arguments, where)
        return None

    def _array(self, hint: Any, make: Converter, unique: bool, where: str) -> Shape:
        items = self.shape(hint, where)
        schema: dict[str, Any] = {"type": "array"}
        if items.schema:
            schema["items"] = items.schema
        if unique:
            schema["uniqueItems"] = True
        read = items.convert
        if read is not None:
            return Shape(schema, _of_type(list), lambda value: make(read(item) for item in value))
        return Shape(schema, _of_type(list), None if make is list else make)

    def _fixed_tuple(self, arguments: tuple[Any, ...], where: str) -> Shape:
        shapes = [] if arguments == ((),) else [self.shape(item, where) for item in arguments]
        schema = {
            "type": "array",
            "prefixItems": [shape.schema for shape in shapes],
            "minItems": len(shapes),
            "maxItems": len(shapes),
        }
        return Shape(
            schema,
            lambda value: isinstance(value, list) and len(value) == len(shapes),
            lambda value: tuple(
                shape.read(item) for shape, item in zip(shapes, value, strict=True)
            ),
        )

    def _mapping(self, arguments: tuple[Any, ...], where: str) -> Shape:
        key, value = arguments or (str, Any)
        if key is not str and key is not Any:
            raise ConfigurationError(
                f"{self.owner}: {where} has keys of type {_name(key)}; "
                "keys of JSON objects are strings: write dict[str, ...]"
            )
        items = self.shape(value, where)
        schema: dict[str, Any] = {"type": "object"}
        if items.schema:
            schema["additionalProperties"] = items.schema
        read = items.convert
        if read is None:
            return Shape(schema, _of_type(dict))
        return Shape(
            schema,
            _of_type(dict),
            lambda mapping: {name: read(item) for name, item in mapping.items()},
        )

    def _class(self, hint: type, where: str) -> Shape | None:
        if issubclass(hint, enum.Enum):
            return self._choice([(_scalar(member.value), member) for member in hint], where)
        if hasattr(hint, "model_json_schema") and hasattr(hint, "model_validate"):
            return self._pydantic(hint, where)
        if dataclasses.is_dataclass(hint):
            return self._record(hint, where, _dataclass_fields(hint), lambda given: hint(**given))
        if typing.is_typeddict(hint):
            return self._record(hint, where, _typed_dict_fields(hint), dict)
        return None

    def _pydantic(self, hint: Any, where: str) -> Shape:
        schema = self._given(hint.model_json_schema, hint, where)
        return Shape(schema, _of_type(dict), hint.model_validate)

    def _adapted(self, adapter: Any, hint: Any, where: str) -> Shape:
        """A hint with constraints, such as `Annotated[int, Field(ge=1)]`."""
        import json

        try:
            adapted = adapter(hint)
        except (RuntimeError, TypeError, NameError) as problem:
            raise self._unusable(hint, where, problem) from None

        def accepts(value: Any) -> bool:
            try:
                adapted.validate_json(json.dumps(value), strict=True)
            except ValueError:
                return False
            return True

        schema = self._given(adapted.json_schema, hint, where)
        return Shape(schema, accepts, adapted.validate_python)

    def _given(self, describe: Callable[[], Any], hint: Any, where: str) -> dict[str, Any]:
        """A schema that Pydantic wrote."""
        try:
            schema: dict[str, Any] = dict(describe())
        except (RuntimeError, TypeError, NameError) as problem:
            raise self._unusable(hint, where, problem) from None
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise ConfigurationError(
                    f"{self.owner}: {where} brings a second type called {name}; rename one"
                )
        # A model's own title says no more than the parameter's name.
        schema.pop("title", None)
        return schema

    def _unusable(self, hint: Any, where: str, problem: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"{self.owner}: {where} is annotated {_name(hint)}, of which Pydantic makes no JSON "
            f"Schema: {problem}"
        )

    def _record(
        self,
        hint: type,
        where: str,
        fields: Mapping[str, tuple[Any, bool, Any]],
        make: Callable[[dict[str, Any]], Any],
    ) -> Shape:
        opened = self._open.get(hint)
        if opened is not None:
            self._referenced.add(hint)
            return opened
        converters: dict[str, Converter] = {}
        required = [name for name, (_, needed, _) in fields.items() if needed]

        def convert(value: dict[str, Any]) -> Any:
            given = {
                name: converters[name](item) if name in converters else item
                for name, item in value.items()
            }
            return make(given)

        def accepts(value: Any) -> bool:
            return (
                isinstance(value, dict)
                and all(name in value for name in required)
                and all(name in fields for name in value)
            )

        reference = Shape({"$ref": f"#/$defs/{hint.__name__}"}, accepts, convert)
        self._open[hint] = reference
        properties: dict[str, Any] = {}
        for name, (annotation, _, default) in fields.items():
            shape = self.shape(annotation, f"{where}.{name}")
            properties[name] = with_default(shape.schema, default)
            if shape.convert is not None:
                converters[name] = shape.convert
        del self._open[hint]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        if hint in self._referenced:
            if self.definitions.setdefault(hint.__name__, schema) != schema:
                raise ConfigurationError(
                    f"{self.owner}: {where} brings a second type called {hint.__name__}; rename one"
                )
            return reference
        return Shape(schema, accepts, convert)


_ARRAYS: dict[type, tuple[Converter, bool]] = {
    list: (list, False),
    Sequence: (list, False),
    tuple: (tuple, False),
    set: (set, True),
    frozenset: (frozenset, True),
}
_OBJECTS = frozenset({dict, Mapping})

NO_DEFAULT = object()


def with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """The schema with a default that a model can read, where there is one."""
    if isinstance(default, enum.Enum):
        default = default.value
    if isinstance(default, (str, int, float, bool)) and _is_json(default):
        return {**schema, "default": default}
    return schema


def _is_json(value: str | int | float) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return -(2**63) <= value < 2**64 if isinstance(value, int) else math.isfinite(value)


def constrains(extra: Any) -> bool:
    """Whether it is one of Pydantic's annotations, such as `Field(ge=1)`."""
    return type(extra).__module__.partition(".")[0] in {"pydantic", "annotated_types"}


def resolved_hints(target: Any, owner: str, names: Mapping[str, Any] | None) -> dict[str, Any]:
    """The type hints of a function or class, with quoted ones looked up.

    Args:
        target: What carries the hints.
        owner: For error messages.
        names: Names of the scope where `target` was written, besides its module's.

    Raises:
        ConfigurationError: A quoted annotation names something that is not there.
    """
    try:
        return get_type_hints(target, localns=dict(names or {}), include_extras=True)
    except NameError as problem:
        raise ConfigurationError(
            f"{owner}: cannot resolve an annotation: {problem}; define or import the type at "
            "module level and not only under TYPE_CHECKING"
        ) from None
    except (AttributeError, SyntaxError, TypeError) as problem:
        raise ConfigurationError(f"{owner}: cannot resolve an annotation: {problem}") from None


def _dataclass_fields(hint: Any) -> dict[str, tuple[Any, bool, Any]]:
    hints = resolved_hints(hint, hint.__name__, None)
    fields: dict[str, tuple[Any, bool, Any]] = {}
    for field in dataclasses.fields(hint):
        if not field.init:
            continue
        optional = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        fields[field.name] = (hints[field.name], not optional, field.default)
    return fields


def _typed_dict_fields(hint: Any) -> dict[str, tuple[Any, bool, Any]]:
    hints = resolved_hints(hint, hint.__name__, None)
    required: frozenset[str] = hint.__required_keys__
    fields: dict[str, tuple[Any, bool, Any]] = {}
    for name, annotation in hints.items():
        needed, inner = name in required, annotation
        # Quoted annotations hide Required and NotRequired from `__required_keys__`.
        while getattr(get_origin(inner), "_name", None) in {"Required", "NotRequired", "ReadOnly"}:
            marker = getattr(get_origin(inner), "_name", None)
            needed = needed if marker == "ReadOnly" else marker == "Required"
            inner = get_args(inner)[0]
        fields[name] = (inner, needed, NO_DEFAULT)
    return fields


def _name(hint: Any) -> str:
    if isinstance(hint, TypeVar):
        return f"with the type variable {hint}"
    return hint.__qualname__ if isinstance(hint, type) else str(hint)
