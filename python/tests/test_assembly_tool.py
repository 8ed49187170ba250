"""Assemblies that agents ask as tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from little_ghost import Agent, RunContext, Workflow, WorkflowInvocation, testing, tool
from little_ghost.testing import ScriptedModel


class BillingAgent(Agent):
    """Knows invoices."""

    description = "Answers questions about invoices."
    model = "nowhere:model"


class Lookup(Workflow):
    async def perform(self) -> WorkflowInvocation:
        found = await self.invoke(BillingAgent)
        return self.invoke(BillingAgent, input=f"Check {found}")


def asks(name: str, text: str) -> dict[str, Any]:
    return {"tool": name, "input": {"input": text}}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_model_asks_a_workflow_as_a_tool(asynchronous: bool) -> None:
    agent = Agent(name="desk", tools=[Lookup.as_tool(), BillingAgent.as_tool(name="billing_desk")])
    with testing.use_model(asks("lookup", "481"), "found", "checked", "Answer") as model:
        run = asyncio.run(agent.ask_async("Why?")) if asynchronous else agent.ask("Why?")
    assert (run.error, run.response) == (None, "Answer")
    offered = {each["name"]: each for each in model.requests[0].tools}
    assert set(offered) == {"lookup", "billing_desk"}
    assert offered["billing_desk"]["description"] == "Answers questions about invoices."
    assert model.requests[1].messages[-1].text == "481"
    assert model.requests[2].messages[-1].text == "Check found"
    told: Any = model.requests[3].messages[-1].content[0]
    assert told.content == "checked"


def test_conversations_go_on_where_declared() -> None:
    kept = BillingAgent.as_tool(preserve_context=True)
    turns = (asks("billing", "one"), "1", asks("billing", "two"), "2", "done")
    with testing.use_model(*turns) as model:
        assert Agent(tools=[kept]).ask("go").response == "done"
    assert [message.text for message in model.requests[3].messages] == ["one", "1", "two"]


def test_the_context_of_the_request_reaches_tools_further_in() -> None:
    seen: list[dict[str, Any]] = []

    @tool
    def look(context: RunContext) -> str:
        """Looks."""
        seen.append(dict(context.state))
        return "ok"

    inner = Agent(
        name="inner", model=ScriptedModel({"tool": look, "input": {}}, "seen"), tools=[look]
    )
    outer = Agent(model=ScriptedModel(asks("inner", "look"), "done"), tools=[inner.as_tool()])
    assert outer.ask("go", context={"tenant": "a"}).error is None
    assert seen == [{"tenant": "a"}]


def test_a_tool_of_an_assembly_works_without_an_agent() -> None:
    with testing.use_model("alone"):
        assert BillingAgent.as_tool().execute({"input": "go"}).value == "alone"
