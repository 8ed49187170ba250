"""Prompt locals that assemblies have for their agents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from little_ghost import (
    Agent,
    ConfigurationError,
    Edge,
    Graph,
    Invocation,
    Run,
    Runtime,
    Swarm,
    Workflow,
    WorkflowInvocation,
    prompt_local,
)
from little_ghost.testing import ScriptedModel

scripts: list[ScriptedModel] = []


def script(*turns: Any) -> ScriptedModel:
    scripts.append(ScriptedModel(*turns))
    return scripts[-1]


def scripted(run: Run) -> ScriptedModel:
    del run
    return scripts[-1]


class SupportAgent(Agent):
    model = scripted
    system_template = "desk"
    prompt_locals = {"tone": "own"}


class OtherAgent(Agent):
    model = scripted


class DeskSwarm(Swarm):
    members = [SupportAgent, OtherAgent]
    start = SupportAgent
    prompt_locals = {"company": "swarm", "tone": "swarm"}


class RoutesGraph(Graph):
    nodes = {"ask": SupportAgent, "desk": DeskSwarm}
    edges = [Edge("ask", "desk")]
    start = "ask"
    finish = "desk"

    @prompt_local
    def company(self) -> str:
        return "graph"


class WholeWorkflow(Workflow):
    prompt_locals = {"company": "workflow", "seats": lambda context: context.metadata["seats"]}

    def perform(self) -> WorkflowInvocation:
        return self.invoke(RoutesGraph)


def runtime(folder: Path) -> Runtime:
    (folder / "desk.j2").write_text("{{ company }} {{ seats }} {{ tone }}")
    return Runtime(prompt_paths=[folder])


def prompts(model: ScriptedModel) -> list[str]:
    return [request.messages[0].text for request in model.requests]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_closest_one_counts(tmp_path: Path, asynchronous: bool) -> None:
    whole = WholeWorkflow(runtime=runtime(tmp_path))
    request = Invocation("hello", metadata={"seats": 3})
    model = script("one", "two")
    run = asyncio.run(whole.ask_async(request)) if asynchronous else whole.ask(request)
    assert run.completed, run.error
    assert prompts(model) == ["graph 3 own", "swarm 3 own"]


def test_tools_see_those_of_the_agent_that_asks(tmp_path: Path) -> None:
    lead = Agent(
        name="lead",
        model=scripted,
        tools=[DeskSwarm.as_tool(name="desk")],
        prompt_locals={"company": "lead", "seats": 5, "tone": "lead"},
        runtime=runtime(tmp_path),
    )
    ask = {"tool": "desk", "input": {"input": "Why?"}}
    model = script(ask, "found", "Answer")
    run = lead.ask("hello")
    assert run.completed, run.error
    assert "swarm 5 own" in prompts(model)


def test_a_failing_one_fails_its_participant(tmp_path: Path) -> None:
    def company() -> str:
        raise LookupError("no company")

    swarm = DeskSwarm(prompt_locals={"company": company}, runtime=runtime(tmp_path))
    model = script("never")
    run = swarm.ask("hello")
    assert isinstance(run.error, LookupError)
    assert not model.requests


@pytest.mark.parametrize("made", [DeskSwarm, RoutesGraph, WholeWorkflow])
def test_only_names_are_taken(made: Any) -> None:
    model = script("never")
    with pytest.raises(ConfigurationError, match="prompt_locals must be a dict"):
        made(prompt_locals=["company"]).ask("hello").raise_for_outcome()
    assert not model.requests
