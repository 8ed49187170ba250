"""The vendor's model of Bedrock as a judge of requests and events."""

from __future__ import annotations

import base64
import re
from typing import Any

from botocore.serialize import create_serializer
from botocore.session import Session
from botocore.validate import ParamValidator

SERVICE = Session().get_service_model("bedrock-runtime")
CONVERSE_STREAM = SERVICE.operation_model("ConverseStream")


def parameters(shape: Any, value: Any, place: str = "$") -> Any:
    """A JSON value as a program would give it to the vendor's client.

    Raises ValueError for what the model does not allow but the client does not check: values that are
    not listed, patterns, longest lengths, and unions of several members.
    """
    kind = shape.type_name
    if kind == "blob":
        return base64.b64decode(value, validate=True)
    if kind == "structure" and not shape.is_document_type:
        members: dict[str, Any] = {}
        for key, nested in value.items():
            if key not in shape.members:
                raise ValueError(f"{place}.{key} is unknown")
            members[key] = parameters(shape.members[key], nested, f"{place}.{key}")
        if shape.is_tagged_union and len(members) != 1:
            raise ValueError(f"{place} is a union and needs one member")
        return members
    if kind == "list":
        items = enumerate(value)
        return [parameters(shape.member, item, f"{place}[{index}]") for index, item in items]
    if kind == "string":
        _check_text(shape, value, place)
    return value


def _check_text(shape: Any, value: str, place: str) -> None:
    enum, rules = shape.enum, shape.metadata
    if enum and value not in enum:
        raise ValueError(f"{place} is none of {enum}: {value!r}")
    if "pattern" in rules and not re.fullmatch(rules["pattern"], value):
        raise ValueError(f"{place} does not match {rules['pattern']}: {value!r}")
    if not rules.get("min", 0) <= len(value) <= rules.get("max", len(value)):
        raise ValueError(f"{place} has a wrong length: {value!r}")


def validate(shape: Any, value: dict[str, Any]) -> dict[str, Any]:
    """The value as parameters. Raises ValueError for what the model does not allow."""
    given: dict[str, Any] = parameters(shape, value)
    report = ParamValidator().validate(given, shape)
    if report.has_errors():
        raise ValueError(report.generate_report())
    return given


def serialized(given: dict[str, Any]) -> dict[str, Any]:
    """The HTTP request that the vendor's client makes of the parameters."""
    serializer = create_serializer("rest-json")
    request: dict[str, Any] = serializer.serialize_to_request(given, CONVERSE_STREAM)
    return request
