"""A real model on loopback answers, calls a tool and streams, over each wire format it has."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from little_ghost import (
    Agent,
    CodeMode,
    Run,
    Runtime,
    StreamEvent,
    Swarm,
    ToolResult,
    Workflow,
    WorkflowInvocation,
    tool,
)

SERVE = Path(__file__).parents[2] / "tests/support/local-model/serve.py"

# A small machine that does other things, too, may take its time to load and run a model.
pytestmark = pytest.mark.timeout(300)


@tool
def order_status(order_number: str) -> str:
    """Look up the delivery status of an order by its number."""
    return f"Order {order_number} is out for delivery."


class SupportAgent(Agent):
    model = "local:qwen2.5-coder-0.5b-instruct"
    system_prompt = "You are a support agent. Use the order_status tool to look up orders."
    tools = [order_status]
    max_turns = 6
    model_settings = {"temperature": 0, "max_tokens": 200}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    model = os.environ.get("LITTLE_GHOST_LOCAL_MODEL")
    if not model:
        pytest.fail("set LITTLE_GHOST_LOCAL_MODEL to the model's file: run `make test`")
    with subprocess.Popen(
        [sys.executable, str(SERVE), model, "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if line.startswith("listening "):
                yield f"{line.split()[1]}/v1/"
                break
        else:
            pytest.fail("the model's server ended")
        server.terminate()


def check(events: list[StreamEvent], run: Run) -> None:
    assert run.completed, run.error
    stop = next(event for event in events if event.type == "tool_stop")
    assert stop.data["tool_use"].name == "order_status"
    assert "481" in stop.data["result"].content
    assert "481" in run.response
    assert sum(event.type == "text_delta" for event in events) > 3
    assert run.usage.total_tokens > 0


def agent(base_url: str, api: str) -> Agent:
    connection = {"adapter": "openai_compatible", "base_url": base_url, "api": api}
    if api == "messages":
        connection = {"adapter": "anthropic", "base_url": base_url}
    return SupportAgent(runtime=Runtime(providers={"local": connection}))


@pytest.mark.parametrize("api", ["chat_completions", "responses", "messages"])
def test_tool_call_and_streamed_answer(base_url: str, api: str) -> None:
    stream = agent(base_url, api).stream("What is the status of order 481?")
    events = list(stream)
    check(events, stream.run)


def test_tool_call_and_streamed_answer_under_asyncio(base_url: str) -> None:
    async def consume() -> tuple[list[StreamEvent], Run]:
        stream = agent(base_url, "chat_completions").stream_async(
            "What is the status of order 481?"
        )
        events = [event async for event in stream]
        return events, stream.run

    check(*asyncio.run(consume()))


class TriageAgent(Agent):
    description = "Sorts requests."
    model = "local:qwen2.5-coder-0.5b-instruct"
    system_prompt = "You sort requests. Answer with one word only: delivery or billing."
    model_settings = {"temperature": 0, "max_tokens": 10}


class TriageWorkflow(Workflow):
    def perform(self) -> WorkflowInvocation:
        route = self.invoke(TriageAgent).output()
        target = SupportAgent if "delivery" in route.lower() else TriageAgent
        return self.invoke(target, as_="answer")


def runtime(base_url: str) -> Runtime:
    return Runtime(providers={"local": {"adapter": "openai_compatible", "base_url": base_url}})


def test_a_triage_workflow(base_url: str) -> None:
    flow = TriageWorkflow(runtime=runtime(base_url))
    run = flow.ask("What is the delivery status of order 481?")
    assert run.completed, run.error
    assert "481" in run.response
    assert [step.participant for step in run.result.steps] == ["triage", "answer"]
    assert run.result.steps[1].assembly_id == "support"


class FrontDeskAgent(Agent):
    description = "Takes every request."
    model = "local:qwen2.5-coder-0.5b-instruct"
    # A model this small follows an example, hardly a description.
    system_prompt = (
        "You are the front desk. You answer nothing yourself. Reply with this call:\n"
        '{"name": "handoff_to_agent", "arguments": {"agent_id": "delivery", "message": "Look up order 7."}}'
    )
    model_settings = {"temperature": 0, "max_tokens": 100}


class DeliveryAgent(SupportAgent):
    description = "Knows the status of orders."


class SupportSwarm(Swarm):
    members = [FrontDeskAgent, DeliveryAgent]
    start = FrontDeskAgent
    handoffs = {FrontDeskAgent: [DeliveryAgent]}


def test_a_handoff_in_a_swarm(base_url: str) -> None:
    run = SupportSwarm(runtime=runtime(base_url)).ask("What is the status of order 481?")
    assert run.completed, run.error
    assert run.result is not None
    assert [step.participant for step in run.result.steps] == ["front_desk", "delivery"]
    handoff = run.result.steps[0].output
    assert isinstance(handoff, dict) and handoff["agent_id"] == "delivery"
    assert "481" in run.response


totals: list[int] = []


@tool
def order_total(number: int) -> int:
    """Returns the total of an order, in cents."""
    totals.append(number)
    return number * 100 + 4


class ClerkAgent(Agent):
    model = "local:qwen2.5-coder-0.5b-instruct"
    system_prompt = (
        "You only answer by the exec tool. To add 1 to the total of order 7, reply:\n"
        '{"name": "exec", "arguments": {"source": "(await tools.order_total({number: 7})) + 1"}}'
    )
    tools = [order_total]
    # The interpreter of JavaScript has neither files nor network to contain.
    code_mode = CodeMode(engine="javascript", sandbox="unrestricted")
    max_turns = 3
    model_settings = {"temperature": 0, "max_tokens": 100}


def test_a_program_that_the_model_wrote(base_url: str) -> None:
    totals.clear()
    run = ClerkAgent(runtime=runtime(base_url)).ask("Add 1 to the total of order 48.")
    assert run.completed, run.error
    assert totals == [48]
    assert run.result is not None
    results = [
        block.content
        for message in run.result.messages
        for block in message.content
        if isinstance(block, ToolResult)
    ]
    assert ['"value":4805' in str(result) for result in results] == [True], results
