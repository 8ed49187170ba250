"""The types of vendors' packages, made strict enough to judge requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict
from typing_extensions import NotRequired, Required, TypedDict, is_typeddict

_CLOSED: dict[Any, Any] = {}


def closed(hint: Any) -> Any:
    """A vendor's type made strict: no unknown keys, and lists where it says iterable.

    Pydantic would ignore unknown keys of a TypedDict, and validate an iterable only when it is read.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return closed(arguments[0])
    if origin is Iterable:
        return list[closed(arguments[0])]  # type: ignore[misc]
    if origin in (Required, NotRequired):
        return origin[closed(arguments[0])]
    if origin in (list, dict):
        return origin[tuple(closed(argument) for argument in arguments)]
    if origin is Union or type(hint).__name__ == "UnionType":
        return Union[tuple(closed(argument) for argument in arguments)]
    if not is_typeddict(hint):
        return hint
    if hint not in _CLOSED:
        # A type that contains itself stays open one level down.
        _CLOSED[hint] = hint
        fields = {
            # `__required_keys__` cannot be trusted: the vendor's annotations are strings.
            name: closed(field if get_origin(field) is Required else NotRequired[field])
            for name, field in get_type_hints(hint, include_extras=True).items()
        }
        strict = TypedDict(hint.__name__, fields)  # type: ignore[operator]
        # Some fields also take files, which no request here is.
        strict.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        _CLOSED[hint] = strict
    return _CLOSED[hint]
