"""Type hints as JSON Schema, and values as the hinted types."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, Union

import pydantic
import pytest

from little_ghost import ConfigurationError, RunContext, tool
from little_ghost.schema import SchemaBuilder


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Address:
    street: str
    zip_code: Annotated[int, "Without spaces."]
    country: str = "CH"
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


class Filter(TypedDict, total=False):
    term: str
    limit: int


class Item(pydantic.BaseModel):
    name: str
    amount: int = pydantic.Field(gt=0)


class Order(pydantic.BaseModel):
    items: list[Item]


UserId = NewType("UserId", str)


def schema_of(hint: Any) -> dict[str, Any]:
    return SchemaBuilder("test").shape(hint, "parameter x").schema


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Literal[Color.RED], {"type": "string", "enum": ["red"]}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (dict, {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (UserId, {"type": "string"}),
        (Annotated[str, "Such as 481."], {"type": "string", "description": "Such as 481."}),
        (
            Filter,
            {
                "type": "object",
                "properties": {"term": {"type": "string"}, "limit": {"type": "integer"}},
                "additionalProperties": False,
            },
        ),
        (
            Address,
            {
                "type": "object",
                "properties": {
                    "street": {"type": "string"},
                    "zip_code": {"type": "integer", "description": "Without spaces."},
                    "country": {"type": "string", "default": "CH"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["street", "zip_code"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize(
    ("hint", "given", "expected"),
    [
        (float, 2, 2.0),
        (int, 2.0, 2),
        (Color, "red", Color.RED),
        (Level, 2, Level.HIGH),
        (Literal[Color.RED], "red", Color.RED),
        (Optional[Color], None, None),
        (Optional[Color], "blue", Color.BLUE),
        (Union[Color, int], 3, 3),
        (Union[Address, str], {"street": "A", "zip_code": 1}, Address("A", 1)),
        (Union[Filter, Address], {"street": "A", "zip_code": 1}, Address("A", 1)),
        (set[int], [1, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[Color, int], ["red", 2], (Color.RED, 2)),
        (list[Color], ["red"], [Color.RED]),
        (dict[str, Color], {"a": "red"}, {"a": Color.RED}),
        (list[Address], [{"street": "A", "zip_code": 1}], [Address("A", 1)]),
        (Tree, {"value": 1, "children": [{"value": 2}]}, Tree(1, [Tree(2)])),
        (Item, {"name": "a", "amount": 2}, Item(name="a", amount=2)),
    ],
)
def test_conversion(hint: Any, given: Any, expected: Any) -> None:
    value = SchemaBuilder("test").shape(hint, "parameter x").read(given)
    assert value == expected
    assert type(value) is type(expected)


def test_true_and_one_are_different_choices() -> None:
    shape = SchemaBuilder("test").shape(Literal[True, 1], "parameter x")
    assert shape.schema == {"enum": [True, 1]}
    assert shape.read(True) is True
    assert shape.read(1) is not True


def test_a_recursive_type_refers_to_itself() -> None:
    @tool
    def count(tree: Tree) -> int:
        """Count the nodes."""
        return 1 + sum(count(child) for child in tree.children)

    schema = count.schema
    assert schema["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    children = schema["$defs"]["Tree"]["properties"]["children"]
    assert children["items"] == {"$ref": "#/$defs/Tree"}
    nested = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}
    assert count.execute({"tree": nested}).value == 3
    wrong = count.execute({"tree": {"value": 1, "children": [{"value": "x"}]}})
    assert "$.tree.children[0].value must be integer" in wrong.content


def test_pydantic_models_bring_their_definitions_and_validate() -> None:
    @tool
    def place(order: Order) -> int:
        """Place an order."""
        assert isinstance(order.items[0], Item)
        return sum(item.amount for item in order.items)

    assert place.schema["$defs"]["Item"]["properties"]["name"]["type"] == "string"
    assert place.execute({"order": {"items": [{"name": "a", "amount": 2}]}}).value == 2
    outcome = place.execute({"order": {"items": [{"name": "a", "amount": 0}]}})
    assert outcome.status == "error"
    assert "$.order.items[0].amount" in outcome.content


def test_a_validator_of_pydantic_that_no_schema_expresses_is_an_input_error() -> None:
    class Even(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def check(cls, value: int) -> int:
            if value % 2:
                raise ValueError("odd numbers are not taken")
            return value

    @tool
    def halve(even: Even) -> int:
        """Halve a number."""
        return even.number // 2

    assert halve.execute({"even": {"number": 4}}).value == 2
    content = halve.execute({"even": {"number": 3}}).content
    assert content.startswith("Invalid tool input: $.even.number")
    assert "odd numbers are not taken" in content
    assert "pydantic.dev" not in content


def test_defaults_make_parameters_optional() -> None:
    @tool
    def search(
        term: str, limit: int = 10, color: Color = Color.RED, near: str | None = None
    ) -> str:
        """Search."""
        return f"{term} {limit} {color} {near}"

    assert search.schema["required"] == ["term"]
    assert search.schema["properties"]["limit"] == {"type": "integer", "default": 10}
    assert search.schema["properties"]["color"]["default"] == "red"
    assert "default" not in search.schema["properties"]["near"]
    assert search.execute({"term": "a"}).value == "a 10 Color.RED None"


def test_local_classes_resolve_in_quoted_hints() -> None:
    class Local(TypedDict):
        name: str

    @tool
    def greet(who: Local) -> str:
        """Greet."""
        return who["name"]

    assert greet.execute({"who": {"name": "Ann"}}).value == "Ann"


class Pair(NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize(
    "hint",
    [datetime.datetime, bytes, dict[int, str], type, complex, Pair, list[bytes]],
)
def test_a_hint_without_a_schema_says_what_to_use(hint: Any) -> None:
    def function(x: Any) -> None:
        """Do."""

    function.__annotations__["x"] = hint
    with pytest.raises(ConfigurationError, match="parameter x"):
        tool(function)


def test_a_name_that_is_not_there() -> None:
    def function(x: Any) -> None:
        """Do."""

    function.__annotations__["x"] = "Nowhere"
    with pytest.raises(ConfigurationError, match="Nowhere.*TYPE_CHECKING"):
        tool(function)


@pytest.mark.parametrize("hint", ["enum.Nothing", "int | 'str'", "1 +", "(int, str)"])
def test_an_annotation_that_is_none(hint: str) -> None:
    def function(x: Any) -> None:
        """Do."""

    function.__annotations__["x"] = hint
    with pytest.raises(ConfigurationError, match="tool function: cannot resolve an annotation"):
        tool(function)


@pytest.mark.parametrize("default", [float("nan"), float("inf"), 2**70, "\ud800"])
def test_a_default_that_json_cannot_express_is_not_shown(default: Any) -> None:
    @tool
    def search(x: int | float | str = default) -> Any:
        """Do."""
        return x is default

    assert "default" not in search.schema["properties"]["x"]
    assert search.execute({}).value is True


def test_constraints_of_pydantic() -> None:
    @tool
    def search(
        day: Annotated[datetime.date, pydantic.Field(description="When.")],
        limit: Annotated[int, pydantic.Field(ge=1)] | str = 3,
        names: list[Annotated[str, pydantic.Field(max_length=2)]] | None = None,
    ) -> Any:
        """Do."""
        return day, limit, names

    assert search.schema["properties"] == {
        "day": {"type": "string", "format": "date", "description": "When."},
        "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}], "default": 3},
        "names": {
            "anyOf": [
                {"type": "array", "items": {"type": "string", "maxLength": 2}},
                {"type": "null"},
            ]
        },
    }
    day = datetime.date(2026, 1, 2)
    assert search.execute({"day": "2026-01-02"}).value == (day, 3, None)
    assert search.execute({"day": "2026-01-02", "limit": "5"}).value == (day, "5", None)
    for wrong in ({"day": "never"}, {"day": "2026-01-02", "limit": 0}):
        assert "Invalid tool input" in search.execute(wrong).content


def test_pydantic_where_it_does_not_help() -> None:
    def by_default(x: int = pydantic.Field(ge=1)) -> None:
        """Do."""

    def by_type(x: Annotated[SchemaBuilder, pydantic.Field()]) -> None:
        """Do."""

    with pytest.raises(ConfigurationError, match="default of parameter x is a FieldInfo"):
        tool(by_default)
    with pytest.raises(ConfigurationError, match="Pydantic makes no JSON Schema"):
        tool(by_type)


@pytest.mark.parametrize(
    "hint", [Optional[RunContext], RunContext | None, Annotated[RunContext, "text"]]
)
def test_the_context_may_be_optional(hint: Any) -> None:
    def search(given: Any = None) -> bool:
        """Do."""
        return given is not None

    search.__annotations__["given"] = hint
    made = tool(search)
    assert made.schema["properties"] == {}
    assert (made(), made.execute({}).value) == (False, True)


def test_the_context_is_no_part_of_the_schema() -> None:
    @tool
    def by_type(x: int, run_context: RunContext) -> str:
        """Do."""
        return str(run_context.state)

    @tool
    def by_name(context, x: int = 1):  # type: ignore[no-untyped-def]
        """Do."""
        return context.state["k"] + x

    assert list(by_type.schema["properties"]) == ["x"]
    assert list(by_name.schema["properties"]) == ["x"]
    assert by_name.execute({}, RunContext(state={"k": 1})).value == 2
    assert by_type.execute({"x": 1}).value == "{}"


def test_a_parameter_named_context_with_another_type_is_an_input() -> None:
    @tool
    def search(context: str) -> str:
        """Do."""
        return context

    assert list(search.schema["properties"]) == ["context"]
    assert search.execute({"context": "a"}).value == "a"
