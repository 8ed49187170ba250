"""Declaring agents."""

from __future__ import annotations

import inspect
from typing import Any
from unittest import mock

import pytest
from scripted import says

from little_ghost import Agent, ConfigurationError, RunStream, Runtime, Tool, tool


@tool
def look() -> str:
    """Look."""
    return "seen"


async def choose() -> str:
    return "openai:x"


class Look(Tool):
    """Look."""

    def call(self) -> str:
        return "seen"


class SupportAgent(Agent):
    description = "Answers."
    model = "openrouter:x"
    tools = [look]
    max_turns = 3


class BillingAgent(SupportAgent):
    tools = [*SupportAgent.tools, Look]


def test_attributes_are_inherited() -> None:
    agent = BillingAgent()
    assert (agent.description, agent.model, agent.max_turns) == ("Answers.", "openrouter:x", 3)
    assert agent.tools == [look, Look]
    assert SupportAgent.tools == [look]
    assert agent.agent_id == "billing"


def test_arguments_win_over_the_class() -> None:
    agent = SupportAgent(name="custom", model="openai:y", tools=(), model_settings={"a": 1})
    assert (agent.agent_id, agent.model, agent.tools) == ("custom", "openai:y", ())
    assert agent.max_turns == 3
    assert SupportAgent().model == "openrouter:x"
    assert repr(agent) == "<SupportAgent 'custom' model='openai:y'>"


def test_a_subclass_may_have_a_constructor_of_its_own() -> None:
    class Bare(Agent):
        def __init__(self, shop: str) -> None:
            self.shop = shop

    assert Bare("s").runtime is Agent().runtime
    with pytest.raises(TypeError, match="shop"):
        Bare.ask("x")
    # What documents and mocks classes reads their attributes.
    assert inspect.signature(Bare.ask) == inspect.signature(Bare("s").ask)
    with mock.patch.object(Bare, "ask", return_value="mocked"):
        assert Bare("s").ask("x") == "mocked"
    with pytest.raises(TypeError, match="shop"):
        Bare.ask("x")


def test_tools_that_are_none(scenario: Any) -> None:
    class Quiet(Agent):
        tools = None  # type: ignore[assignment]

    provider = scenario(says("ok"))
    assert Quiet(runtime=provider.runtime()).ask("x").completed


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"tools": "look"}, "tools must be a list of tools"),
        ({"tools": look}, "tools must be a list of tools"),
        ({"tools": [lambda: None]}, "write @tool above it"),
        ({"tools": [3]}, "must hold functions with @tool"),
        ({"tools": [Agent]}, "must hold functions with @tool"),
        ({"model": 3}, "connection:model-id"),
        ({"model": Agent}, "connection:model-id"),
        ({"model": choose}, "must be a plain function"),
        ({"system_prompt": 3}, "system_prompt must be a str"),
        ({"description": ["x"]}, "description must be a str"),
        ({"name": 3}, "name must be a str"),
        ({"max_turns": 0}, "at least 1, not 0"),
        ({"max_turns": True}, "at least 1"),
        ({"max_tool_calls": "3"}, "at least 1, not str"),
        ({"max_tool_result_tokens": 1.5}, "at least 1, not float"),
        ({"model_settings": [1]}, "dict of settings"),
    ],
)
def test_mistakes_say_what_to_write(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        type("Wrong", (Agent,), attributes)
    with pytest.raises(ConfigurationError, match=message):
        Agent(**attributes)


def test_a_wrong_runtime() -> None:
    with pytest.raises(ConfigurationError, match="must be a Runtime"):
        Agent(runtime="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="providers must be a dict"):
        Runtime(providers=["x"])  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="api_key is of type bytes"):
        Runtime(providers={"x": {"adapter": "openai", "api_key": b"secret"}})
    with pytest.raises(ConfigurationError, match="keys must be strings"):
        Runtime(providers={1: {}})  # type: ignore[dict-item]


def test_the_class_and_the_instance_have_the_same_signature() -> None:
    for entrypoint in (Agent.ask, Agent().ask, SupportAgent.stream, SupportAgent().ask_async):
        parameters = inspect.signature(entrypoint).parameters
        assert list(parameters) == ["message", "options"]
    assert inspect.iscoroutinefunction(Agent.ask_async)
    assert not inspect.iscoroutinefunction(Agent.stream_async)
    assert Agent.ask.__doc__ is not None and Agent.ask.__doc__.startswith("Asks, and waits")


def test_an_entrypoint_may_be_overridden() -> None:
    class Logged(Agent):
        asked: list[Any] = []

        def stream(self, message: Any, **options: Any) -> RunStream:  # type: ignore[override]
            self.asked.append(message)
            return super().stream(message, **options)

    assert isinstance(Logged().stream("x"), RunStream)
    assert Logged.asked == ["x"]
