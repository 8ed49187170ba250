"""Swarms: agents that hand a request to one another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import little_ghost
from little_ghost import (
    Agent,
    AgentBuilder,
    BeforeTool,
    Member,
    RunContext,
    Swarm,
    Workflow,
    before_tool,
    tool,
)
from little_ghost.testing import ScriptedModel


def hands_off(to: str, message: str = "Please take over", **more: Any) -> dict[str, Any]:
    """A turn that hands the request to another member."""
    return {"tool": "handoff_to_agent", "input": {"agent_id": to, "message": message, **more}}


def agent(name: str, *turns: Any, **options: Any) -> Agent:
    return Agent(name=name, model=ScriptedModel(*turns), **options)


class TriageAgent(Agent):
    description = "Decides who answers."
    model = ScriptedModel(hands_off("billing"), repeat=True)


class BillingAgent(Agent):
    description = "Knows invoices."
    model = ScriptedModel({"text": ["Paid", " twice."]}, repeat=True)


class ProblemSolver(Swarm):
    members = (TriageAgent, BillingAgent)
    start = TriageAgent
    handoffs = {TriageAgent: BillingAgent}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_member_hands_the_request_to_another_one(asynchronous: bool) -> None:
    run = (
        asyncio.run(ProblemSolver.ask_async("Why?")) if asynchronous else ProblemSolver.ask("Why?")
    )
    assert (run.outcome, run.response) == ("completed", "Paid twice.")
    assert run.result is not None
    triage, billing = run.result.trajectory
    assert (triage.participant, billing.participant) == ("triage", "billing")
    assert triage.output == {"agent_id": "billing", "message": "Please take over"}
    assert run.result.trajectory.transitions == ((triage.id, billing.id),)


def test_events_tell_of_the_handoff_and_only_the_answer_is_public() -> None:
    events = list(ProblemSolver.stream("Why?", include_agent_events=False))
    kinds = [event.type for event in events if event.type.startswith("assembly_")]
    assert kinds == [
        "assembly_step_start",
        "assembly_step_stop",
        "assembly_transition",
        "assembly_step_start",
        "assembly_step_stop",
    ]
    moved = next(event.data for event in events if event.type == "assembly_transition")
    assert (moved["from"], moved["to"], moved["assembly_kind"]) == ("triage", "billing", "swarm")
    said = "".join(event.data["text"] for event in events if event.type == "text_delta")
    assert said == "Paid twice."


def test_members_get_history_and_context_only_where_declared() -> None:
    seen: dict[str, dict[str, Any]] = {}

    def member(name: str, *turns: Any) -> Agent:
        @tool
        def look(context: RunContext) -> str:
            """Looks."""
            seen[name] = dict(context.state)
            return "ok"

        return agent(name, {"tool": look, "input": {}}, *turns, tools=[look])

    first, second = member("first", hands_off("open", "take it")), member("second", "done")
    swarm = Swarm(
        name="pair",
        members=[first, Member(second, as_="open", history=True, context=True)],
        start=first,
    )
    run = swarm.ask("go", context={"tenant": "a"}, history=[{"role": "user", "content": "Before"}])
    assert (run.error, run.response) == (None, "done")
    assert seen == {"first": {}, "second": {"tenant": "a"}}
    model: Any = second.model
    assert model.requests[0].messages[0].text == "Before"
    assert "take it" in model.requests[0].messages[1].text


def test_handoffs_that_repeat_too_often_end_the_run() -> None:
    one = Agent(name="one", model=ScriptedModel(hands_off("two"), repeat=True))
    two = Agent(name="two", model=ScriptedModel(hands_off("one"), repeat=True))
    events = list(Swarm(members=[one, two], start=one, max_handoff_repeats=2).stream("go"))
    assert "assembly_handoff_loop" in {event.type for event in events}
    error = events[-1].data["error"]
    assert isinstance(error, little_ghost.AssemblyLimitError)
    limited = Swarm(members=[one, two], start=one, max_steps=2).ask("go")
    assert isinstance(limited.error, little_ghost.AssemblyLimitError)


def test_a_swarm_is_checked_before_it_runs() -> None:
    one, two = agent("one"), agent("two")
    sound = Swarm(name="sound", members=[one, two], start=one)
    assert sound.validate() is sound
    assert ProblemSolver.validate().assembly_id == "problem_solver"
    unsound = [
        (Swarm(members=[one], start=one), "at least two members"),
        (Swarm(members=[one, two]), "has no start"),
        (Swarm(members=[one, two], start="three"), "starts with"),
        (Swarm(members=[one, two], start=agent("three")), "not among its members"),
        (Swarm(members=[one, agent("one")], start=one), "two members called"),
        (Swarm(members=[one, two], start=one, handoffs={one: one}), "to itself"),
        (Swarm(members=[one, two], start=one, handoffs={"three": one}), "is no member"),
        (Swarm(members=[one, Workflow()], start=one), "are agents"),  # type: ignore[list-item]
        (Swarm(members=[one, 7], start=one), "must be an Agent"),  # type: ignore[list-item]
    ]
    for swarm, problem in unsound:
        with pytest.raises(little_ghost.ConfigurationError, match=problem):
            swarm.validate()
        assert isinstance(swarm.ask("go").error, little_ghost.ConfigurationError)
    for swarm, problem in [
        (Swarm(members=[one, two], start=one, handoffs={one: []}), "at least one member"),
        (Swarm(members=[one, two], start=one, handoffs={one: [two, two]}), "only once"),
        (Swarm(members=[one, two], start=one, max_steps=-1), "max_steps"),
        (Swarm(members=[one, Member(two, retries=1)], start=one), "retries need retry_on"),
        (Swarm(members=[one, Member(two, timeout=0)], start=one), "timeout must be more than 0"),
    ]:
        with pytest.raises(ValueError, match=problem):
            swarm.validate()


def test_builders_are_members_as_they_are_declared_at_the_time() -> None:
    builder = AgentBuilder(name="made")
    builder.model = ScriptedModel("made it")
    swarm = Swarm(members=[builder, agent("other")], start=builder)
    assert swarm.ask("go").response == "made it"


def test_participants_share_the_runtime_of_the_swarm(scenario: Any) -> None:
    provider = scenario({"chat": {"text": "hello"}})
    runtime = provider.runtime()
    own = Agent(name="own", runtime=runtime)
    swarm = Swarm(members=[own, Agent(name="other")], start=own, runtime=runtime)
    assert swarm.ask("go").response == "hello"
    elsewhere = Swarm(members=[own, Agent(name="other")], start=own, runtime=runtime.build())
    assert "has a runtime of its own" in str(elsewhere.ask("go").error)


def test_callbacks_of_members_see_the_handoff() -> None:
    seen: list[str] = []

    @before_tool
    def watch(payload: BeforeTool) -> None:
        seen.append(payload.tool.name)

    one = agent("one", hands_off("two"), callbacks=[watch])
    swarm = Swarm(members=[one, agent("two", "done")], start=one)
    run = swarm.ask("go")
    assert (run.error, run.response) == (None, "done")
    assert seen == ["handoff_to_agent"]
