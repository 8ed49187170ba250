"""What would wait for itself says so, and what would not goes on."""

import asyncio
from typing import Any

import pytest

from little_ghost import Agent, RunContext, Runtime, testing, tool

CALL = {"tool": "look", "input": {}}


def agent_with(*tools: Any) -> Agent:
    return Agent(name="nested", runtime=Runtime(), tools=tools)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coroutine", [False, True])
def test_a_tool_cannot_ask_the_session_of_its_own_run(asynchronous: bool, coroutine: bool) -> None:
    seen: list[Any] = []

    def plain() -> str:
        """Asks again."""
        same = agent.ask("again", session_id="s", actor_id="a", timeout=20)
        other = agent.ask("again", session_id="t", actor_id="a", timeout=20)
        seen.extend([str(same.error), other.outcome])
        return "done"

    async def awaiting() -> str:
        """Asks again."""
        same = await agent.ask_async("again", session_id="s", actor_id="a", timeout=20)
        other = await agent.ask_async("again", session_id="t", actor_id="a", timeout=20)
        seen.extend([str(same.error), other.outcome])
        return "done"

    agent = agent_with(tool(name="look")(awaiting if coroutine else plain))
    with testing.use_model(testing.ScriptedModel(CALL, "ok", "end"), everywhere=True):
        if asynchronous:
            run = asyncio.run(agent.ask_async("Hi", session_id="s", actor_id="a", timeout=30))
        else:
            run = agent.ask("Hi", session_id="s", actor_id="a", timeout=30)
    assert run.completed, run.error
    assert "is in use by the run that this one is asked from" in seen[0]
    assert seen[1] == "completed"


def test_a_tool_cannot_interject_into_its_own_run() -> None:
    @tool(name="look")
    def look(context: RunContext) -> str:
        """Interjects."""
        try:
            context.run.interject("Hello")
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "said"

    with testing.use_model(testing.ScriptedModel(CALL, "end")):
        run = agent_with(look).ask("Hi", timeout=30)
    assert run.completed, run.error
    result = run.result.messages[-2].content[0]
    assert "AgentInterjectionError: the agent waits for this code" in str(result.content)
