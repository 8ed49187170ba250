"""Agents that are put together at run time, and declarations that are misspelt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scripted import says, texts

from little_ghost import (
    Agent,
    AgentBuilder,
    BeforeModel,
    ConfigurationError,
    ToolLoop,
    before_model,
    tool,
    with_configuration,
)


@tool
def look() -> str:
    """Look."""
    return "seen"


class Shop(Agent):
    model = "shop:small"
    system_prompt = "Sell."


def test_a_builder_builds_what_is_declared_now(scenario: Any) -> None:
    provider = scenario(says("a"), says("b"), says("c"), says("d"), says("e"))
    builder = AgentBuilder(Shop, name="sales", runtime=provider.runtime())
    builder.model = "scripted:small"
    tools = [look]
    builder.tools = tools
    first = builder.build()
    builder.system_prompt = "Buy."
    builder.max_turns = 3
    tools.clear()
    assert (first.agent_id, first.system_prompt, first.tools) == ("sales", "Sell.", [look])
    assert isinstance(first, Shop)
    assert (builder.system_prompt, builder.model, builder.description) == (
        "Buy.",
        "scripted:small",
        None,
    )
    builder.system_prompt = None
    assert builder.system_prompt == "Sell."
    assert builder.ask("x").response == "a"
    assert asyncio.run(builder.ask_async("x")).response == "b"
    with builder.stream("x") as stream:
        assert [event.type for event in stream][-1] == "run_stop"

    async def consume() -> int:
        async with builder.stream_async("x") as stream:
            return len([event async for event in stream])

    assert asyncio.run(consume()) > 0
    with builder.start_execution("x") as execution:
        assert execution.wait().response == "e"
    assert texts(provider.journal()[0])[0] == "Sell."
    assert repr(builder) == "<AgentBuilder Shop max_turns, model, name, tools>"


def test_mistakes_in_a_builder() -> None:
    builder = AgentBuilder()
    with pytest.raises(AttributeError, match="did you mean system_prompt"):
        builder.system_promt = "x"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute nothing"):
        builder.nothing  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match="at least 1"):
        builder.max_turns = 0
    with pytest.raises(TypeError, match="did you mean model"):
        AgentBuilder(modle="x")  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="must be a Runtime"):
        AgentBuilder(runtime="x")  # type: ignore[arg-type]


def test_callbacks_of_a_builder() -> None:
    builder = AgentBuilder()

    @builder.on(before_model)
    def note(payload: BeforeModel) -> None:
        """Notes it."""

    @builder.on(before_model, prepend=True)
    def early() -> None:
        """Comes first."""

    assert len(builder.build().callbacks or ()) == 2
    # The functions themselves are as they were written.
    with pytest.raises(ConfigurationError, match="write @before_tool"):
        Agent(callbacks=[note])
    assert AgentBuilder().callbacks is None


@pytest.mark.parametrize(
    ("attribute", "meant"),
    [
        ("system_promt", "system_prompt"),
        ("tool", "tools"),
        ("max_turn", "max_turns"),
        ("descripton", "description"),
        ("models", "model"),
    ],
)
def test_misspelt_attributes_are_told(attribute: str, meant: str) -> None:
    cls = type("Wrong", (Agent,), {attribute: "x"})
    child = type("Child", (cls,), {})
    with with_configuration(), pytest.raises(ConfigurationError) as caught:
        child.ask("x")  # type: ignore[attr-defined]
    assert f"Wrong.{attribute} declares nothing; did you mean {meant}?" in str(caught.value)


def test_attributes_of_ones_own_are_fine(scenario: Any) -> None:
    class Mine(Agent):
        mode = "fast"
        prompts = "x"
        MODELS = ("a",)
        _system_promt = "x"
        greeting = "x"

        def describe(self) -> str:
            return "x"

    assert Mine(runtime=scenario(says("a")).runtime()).ask("x").completed
    with pytest.raises(TypeError, match="did you mean system_prompt"):
        Agent(system_promt="x")  # type: ignore[call-arg]


def test_what_is_no_base_and_no_callback_is_told() -> None:
    wrong: Any = Shop()
    with pytest.raises(ConfigurationError, match="takes an Agent class as its base, not Shop"):
        AgentBuilder(wrong)
    name: Any = "before_tool"
    with pytest.raises(ConfigurationError, match="on takes a callback, .* not 'before_tool'"):
        AgentBuilder().on(name)
    with pytest.raises(ConfigurationError, match="before_model takes a function, not 5"):
        AgentBuilder().on(before_model)(wrong.max_turns or 5)


def test_exceptions_of_the_tool_loop_are_a_list() -> None:
    for wrong in ("look", {"look": 1}, 5):
        with pytest.raises(ValueError, match="except_ must be a list of tools"):
            ToolLoop(except_=wrong)  # type: ignore[arg-type]
