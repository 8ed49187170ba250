"""Declaring tools and calling them without an agent."""

from __future__ import annotations

import asyncio
import collections
import copy
import datetime
import functools
import gc
import pickle
import uuid
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from little_ghost import (
    AbstractMethodError,
    Agent,
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
    assert order_status.__name__ == order_status.__qualname__ == "order_status"
    assert pickle.loads(pickle.dumps(order_status)) is order_status
    assert copy.deepcopy(order_status) is order_status


class Shop:
    """Sell things."""

    def price(self, number: int) -> int:
        """Look up a price."""
        return number * 2

    async def __call__(self, number: int) -> int:
        return number * 3


@pytest.mark.parametrize(
    ("function", "name", "description", "value"),
    [
        (Shop().price, "price", "Look up a price.", 14),
        (functools.partial(Shop.price, Shop()), "price", "Look up a price.", 14),
        (functools.lru_cache(Shop().price), "price", "Look up a price.", 14),
        (Shop(), "shop", "Sell things.", 21),
    ],
)
def test_whatever_can_be_called(function: Any, name: str, description: str, value: int) -> None:
    made = tool(function)
    assert (made.name, made.description) == (name, description)
    assert made.is_async is isinstance(function, Shop)
    assert made.execute({"number": 7}).value == value


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

    for use in (Nothing().call, lambda: Nothing().execute({})):
        with pytest.raises(AbstractMethodError, match="Nothing has no call method"):
            use()


def test_call_may_be_static() -> None:
    class Nothing(Tool):
        """Does nothing."""

        @staticmethod
        def call() -> str:
            return "nothing"

    assert Nothing().execute({}).value == "nothing"


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
        (lambda: tool(order_status), "takes a function"),
        (lambda: tool(Shop.price), "self shows that it is a method"),
        (lambda: tool(_yielding), "returns one value"),
        (lambda: tool(name=5)(_whole), "name=.*must be a str, not int"),
        (lambda: tool(exclusive="yes")(_whole), "exclusive=.*must be a bool, not str"),
        (lambda: tool(input_schema=[])(_whole), "input_schema=.*must be a dict"),
        (lambda: tool(input_schema={"enum": {1}})(_whole), "tool _whole: bad input schema"),
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


def _yielding(x: int) -> Iterator[int]:
    """Do."""
    yield x


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
        (collections.deque([1]), "[1]"),
        ([range(2), {"a": 3}.values()], "[[0,1],[3]]"),
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


@pytest.mark.parametrize("value", [b"x", bytearray(b"x"), memoryview(b"x")])
def test_bytes_are_no_list(value: Any) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    assert give.execute({}).status == "error"


def test_a_value_that_cannot_be_dumped_is_a_failure() -> None:
    class Broken:
        def model_dump(self, mode: str) -> Any:
            raise RuntimeError("broken")

    @tool
    def give() -> Any:
        """Give."""
        return Broken()

    assert "RuntimeError" in give.execute({}).content


def test_a_cycle_ends() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    @tool
    def give() -> Any:
        """Give."""
        return cycle

    assert give.execute({}).status == "error"


def test_a_call_that_is_no_method_and_stars_are_told() -> None:
    with pytest.raises(ConfigurationError, match=r"Number.call must be a method, not int"):
        type("Number", (Tool,), {"call": 5})
    with pytest.raises(ConfigurationError, match=r"\*\*options has no place"):

        @tool
        def stars(**options: int) -> None:
            """Take stars."""


async def _raises() -> None:
    raise LookupError("here")


def test_an_exception_of_a_coroutine_tells_of_nothing_else(scenario: Any) -> None:
    class Failing(Agent):
        async def system_prompt(self) -> str:
            await _raises()
            return "x"

    run = Failing(runtime=scenario().runtime()).ask("x")
    assert isinstance(run.error, LookupError) and run.error.__context__ is None


def test_a_class_that_nobody_holds_goes() -> None:
    def made() -> weakref.ref[type]:
        class Fleeting(Tool):
            """Be there once."""

            def call(self, number: int) -> int:
                return number

        assert Fleeting().execute({"number": 1}).value == 1
        return weakref.ref(Fleeting)

    gone = made()
    gc.collect()
    assert gone() is None
