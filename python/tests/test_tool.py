"""Declaring tools and calling them without an agent."""

from __future__ import annotations

import asyncio
import datetime
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from little_ghost import (
    AbstractMethodError,
    CancelledError,
    ConfigurationError,
    RunContext,
    Tool,
    ToolError,
    tool,
)


@tool
def order_status(order_number: str, verbose: bool = False) -> str:
    """Look up an order
    of a customer.

    More for people who read the code.

    Args:
        order_number: The number on the receipt,
            such as 481.
        verbose (bool): Whether to say more.

    Returns:
        order_number: not a parameter.
    """
    if order_number == "0":
        raise ToolError("There is no such order.")
    if order_number == "secret":
        raise KeyError("s3cret")
    return f"{order_number} {verbose}"


def test_a_function_describes_itself() -> None:
    assert order_status.specification() == {
        "name": "order_status",
        "description": "Look up an order of a customer.",
        "input_schema": {
            "type": "object",
            "properties": {
                "order_number": {
                    "type": "string",
                    "description": "The number on the receipt, such as 481.",
                },
                "verbose": {
                    "type": "boolean",
                    "description": "Whether to say more.",
                    "default": False,
                },
            },
            "required": ["order_number"],
            "additionalProperties": False,
        },
        "exclusive": False,
    }


def test_a_tool_is_still_a_function() -> None:
    assert order_status("481") == "481 False"
    assert order_status("481", verbose=True) == "481 True"
    assert order_status.__doc__ is not None
    assert order_status.__doc__.startswith("Look up an order")


def test_execute_validates_and_reports() -> None:
    good = order_status.execute({"order_number": "1"})
    assert (good.value, good.content, good.status, good.error) == (
        "1 False",
        "1 False",
        "success",
        None,
    )
    bad = order_status.execute({"order_number": 1, "more": 2})
    assert bad.status == "error"
    assert "$.order_number must be string" in bad.content
    assert "more" in bad.content
    expected = order_status.execute({"order_number": "0"})
    assert (expected.content, type(expected.error)) == ("There is no such order.", ToolError)
    unexpected = order_status.execute({"order_number": "secret"})
    assert "KeyError" in unexpected.content
    assert "s3cret" not in unexpected.content
    assert isinstance(unexpected.error, KeyError)


def test_options_of_the_decorator() -> None:
    @tool(name="find", description="Find things.", exclusive=True)
    def search(term: str) -> str:
        return term

    specification = search.specification()
    assert (specification["name"], specification["description"]) == ("find", "Find things.")
    assert specification["exclusive"] is True


def test_a_schema_of_your_own() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    @tool(input_schema=schema)
    def add(given: dict[str, Any], context: RunContext) -> int:
        """Add."""
        return given["a"] + context.state.get("b", 0)

    assert add.specification()["input_schema"] == schema
    assert add.execute({"a": 1, "free": 2}, RunContext(state={"b": 2})).value == 3
    assert add.execute({}).status == "error"


def test_async_functions() -> None:
    @tool
    async def wait(seconds: float) -> float:
        """Wait."""
        await asyncio.sleep(0)
        return seconds

    assert wait.is_async
    assert wait.execute({"seconds": 0}).value == 0.0

    async def main() -> Any:
        return (await wait.execute_async({"seconds": 1})).value

    assert asyncio.run(main()) == 1.0


def test_cancellation_is_no_outcome() -> None:
    @tool
    def stop() -> None:
        """Stop."""
        raise CancelledError("stop")

    with pytest.raises(CancelledError):
        stop.execute({})


class OrderStatus(Tool):
    """Look up an order.

    Args:
        number: Such as 481.
    """

    def call(self, number: int, context: RunContext) -> Any:
        self.seen = number
        return {"number": number, "state": context.state}


def test_a_class_describes_itself() -> None:
    specification = OrderStatus().specification()
    assert (specification["name"], specification["description"]) == (
        "order_status",
        "Look up an order.",
    )
    assert specification["input_schema"]["properties"] == {
        "number": {"type": "integer", "description": "Such as 481."}
    }


def test_calls_do_not_share_attributes() -> None:
    instance = OrderStatus()
    assert instance.execute({"number": 1}).value == {"number": 1, "state": {}}
    assert not hasattr(instance, "seen")


def test_class_attributes_win_and_are_inherited() -> None:
    class Base(Tool):
        name = "base"
        description = "Does things."
        exclusive = True
        input_schema = {"type": "object", "properties": {"a": {"type": "string"}}}

        def call(self, given: dict[str, Any]) -> str:
            return str(given["a"])

    class Derived(Base):
        name = "derived"

    specification = Derived().specification()
    assert specification["name"] == "derived"
    assert specification["description"] == "Does things."
    assert specification["exclusive"] is True
    assert Derived().execute({"a": "x"}).value == "x"


def test_a_class_without_call() -> None:
    class Nothing(Tool):
        """Does nothing."""

        input_schema = {"type": "object"}

    outcome = None
    with pytest.raises((AbstractMethodError, ConfigurationError)):
        outcome = Nothing().call()
    assert outcome is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tool(lambda: None), "name"),
        (lambda: _undocumented(), "no description"),
        (lambda: tool(name="bad name")(order_status.function), "bad name"),
        (lambda: tool(name="x" * 65)(order_status.function), "64"),
        (lambda: tool(input_schema={"type": "nonsense"})(_whole), "not a valid JSON Schema"),
        (lambda: tool(input_schema={"type": "object"})(_two), "one parameter"),
        (lambda: tool(_unannotated), "no annotation"),
        (lambda: tool(_variadic), r"\*values"),
        (lambda: tool(OrderStatus), "class X"),
    ],
)
def test_mistakes_show_where_they_are_made(make: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make()


def _undocumented() -> Any:
    @tool
    def nameless(x: int) -> int:
        return x

    return nameless


def _whole(given: dict[str, Any]) -> None:
    """Do."""


def _two(a: int, b: int) -> None:
    """Do."""


def _unannotated(x) -> None:  # type: ignore[no-untyped-def]
    """Do."""


def _variadic(*values: int) -> None:
    """Do."""


def test_wrong_attributes_of_a_class() -> None:
    with pytest.raises(ConfigurationError, match="Wrong.description must be a str"):
        type("Wrong", (Tool,), {"description": 3})
    with pytest.raises(ConfigurationError, match="Wrong.input_schema must be a dict"):
        type("Wrong", (Tool,), {"input_schema": []})


@dataclass
class Report:
    rows: tuple[int, ...]
    day: datetime.date


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        (None, ""),
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        ([1, 2], "[1,2]"),
        (7, "7"),
        (Report((1, 2), datetime.date(2026, 1, 2)), '{"rows":[1,2],"day":"2026-01-02"}'),
        ({"s": {1}}, '{"s":[1]}'),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_values_as_a_model_reads_them(value: Any, content: str) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    outcome = give.execute({})
    assert (outcome.status, outcome.content) == ("success", content)
    assert outcome.value is value


@pytest.mark.parametrize("value", [object(), {"a": float("nan")}, {1: 2}, {"x": 2**70}, "\udc80"])
def test_values_that_json_cannot_express(value: Any) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    outcome = give.execute({})
    assert outcome.status == "error"
    assert isinstance(outcome.error, (TypeError, ValueError))


def test_a_cycle_ends() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    @tool
    def give() -> Any:
        """Give."""
        return cycle

    assert give.execute({}).status == "error"
