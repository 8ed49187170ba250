"""Subagents: agents that a model creates, talks to and waits for."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from little_ghost import (
    Agent,
    CleanupError,
    ConfigurationError,
    Run,
    RunContext,
    Runtime,
    Subagent,
    SubagentLimits,
    SubagentRequest,
    prompt_local,
    tool,
)
from little_ghost.session_store import FilesystemStore
from little_ghost.testing import ScriptedModel


def spawn(name: str, mode: str = "sync", kind: str = "helper") -> dict[str, Any]:
    task = {"kind": kind, "task_name": name, "task": f"Do {name}.", "mode": mode}
    return {"tool": "spawn_subagent", "input": task}


def say(name: str, text: str, mode: str = "sync") -> dict[str, Any]:
    said = {"subagent_id": f"/root/{name}", "message": text, "mode": mode}
    return {"tool": "send_message_to_subagent", "input": said}


WAIT = {"tool": "wait_for_subagents", "input": {}}
LIST = {"tool": "list_subagents", "input": {}}


class Helper(Agent):
    """Helps."""

    description = "Helps."


def answers(model: ScriptedModel) -> list[Any]:
    """What the tools answered, as the model read it."""
    found: list[Any] = []
    for message in model.requests[-1].messages:
        for block in message.content:
            if hasattr(block, "tool_use_id"):
                try:
                    found.append(json.loads(block.content))
                except ValueError:
                    found.append(block.content)
    return found


def until(happened: threading.Event) -> Any:
    """A turn that waits for subagents until something happened, and then is done."""
    return lambda _: "Done." if happened.is_set() else WAIT


def ask(agent: Agent, asynchronous: bool, **options: Any) -> Run:
    if asynchronous:
        return asyncio.run(agent.ask_async("Go", **options))
    return agent.ask("Go", **options)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_subagent_answers_and_goes_on(asynchronous: bool) -> None:
    own = ScriptedModel("It is late.", "Still late.")
    model = ScriptedModel(spawn("look"), say("look", "And now?", "async"), WAIT, "Done.")
    lead = Agent(model=model, subagents=[Helper(model=own)])
    run = ask(lead, asynchronous)
    assert run.response == "Done."
    first, _, waited = answers(model)
    assert first == {
        "status": "finished",
        "subagent_id": "/root/look",
        "kind": "helper",
        "turn": 1,
        "response": "It is late.",
    }
    assert waited["subagents"][0]["response"] == "Still late."
    texts = [message.text for message in own.requests[1].messages]
    assert texts == ["Do look.", "It is late.", "And now?"]
    assert [each["name"] for each in model.requests[0].tools] == [
        "spawn_subagent",
        "send_message_to_subagent",
        "interject_subagent",
        "wait_for_subagents",
        "list_subagents",
    ]


def test_events_tell_what_happens() -> None:
    lead = Agent(
        model=ScriptedModel(spawn("look"), "Done."),
        subagents=[Helper(model=ScriptedModel("Late."))],
    )
    told = [event.data["event"] for event in lead.stream("Go") if event.type == "subagent"]
    assert [(each["event"], each["status"]) for each in told] == [
        ("spawned", "queued"),
        ("turn_started", "running"),
        ("turn_finished", "idle"),
    ]
    assert {each["subagent_id"] for each in told} == {"/root/look"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_code_of_subagents_overlaps(asynchronous: bool) -> None:
    met = threading.Barrier(2, timeout=10)

    @tool
    def meet(context: RunContext) -> str:
        """Meets."""
        met.wait()
        context.state["met"] = True
        return str(context.conversation_id is not None)

    def turn(request: Any) -> Any:
        last = request.messages[-1].content[-1]
        return {"tool": meet, "input": {}} if not hasattr(last, "tool_use_id") else last.content

    helper = Helper(model=ScriptedModel(turn, repeat=True), tools=[meet])
    model = ScriptedModel(spawn("one", "async"), spawn("two", "async"), WAIT, "Done.")
    run = ask(Agent(model=model, subagents=[helper]), asynchronous)
    assert run.response == "Done."
    waited = answers(model)[-1]
    assert [each["response"] for each in waited["subagents"]] == ["True", "True"]


def test_a_lone_turn_keeps_contexts() -> None:
    seen: list[Any] = []

    @tool
    async def look() -> str:
        """Looks."""
        seen.append(asyncio.get_running_loop())
        return "seen"

    helper = Helper(model=ScriptedModel({"tool": look, "input": {}}, "ok"), tools=[look])
    lead = Agent(model=ScriptedModel(spawn("one"), "Done."), subagents=[helper])

    async def main() -> bool:
        await lead.ask_async("Go")
        return seen == [asyncio.get_running_loop()]

    assert asyncio.run(main())


def test_prompts_settings_and_overrides(tmp_path: Path) -> None:
    folder = tmp_path / "helper"
    folder.mkdir()
    (folder / "system.j2").write_text(
        "{{ company }} {{ own }} {{ invocation.text }} {{ agent.name }}"
    )
    runtime = Runtime(prompt_paths=[tmp_path])
    own = ScriptedModel("Late.")

    @tool
    def look() -> str:
        """Looks."""
        return ""

    class Lead(Agent):
        @prompt_local
        def company(self) -> str:
            return "Northstar"

    helper = Helper(name="helper", prompt_locals={"own": "mine"})
    chosen = Subagent(helper, model=lambda run: own, tools=[look])
    lead = Lead(model=ScriptedModel(spawn("look"), "Done."), subagents=[chosen], runtime=runtime)
    run = lead.ask("Go", settings={"temperature": 0.5})
    assert run.response == "Done."
    request = own.requests[0]
    assert request.messages[0].text == "Northstar mine Do look. helper"
    assert request.settings["temperature"] == 0.5
    assert [each["name"] for each in request.tools] == ["look"]


def test_factories_get_the_path_and_mistakes_stay_private() -> None:
    paths: list[str] = []

    def make(request: SubagentRequest) -> Agent:
        paths.append(request.path)
        if len(paths) == 1:
            raise RuntimeError("the key is s3cret")
        return Helper(model=ScriptedModel("Late."))

    model = ScriptedModel(spawn("look", kind="made"), spawn("look", kind="made"), "Done.")
    lead = Agent(model=model, subagents=lambda context: [Subagent(factory=make, kind="made")])
    assert lead.ask("Go").response == "Done."
    failed, finished = answers(model)
    assert failed["status"] == "failed"
    assert "s3cret" not in json.dumps(failed)
    assert finished["response"] == "Late."
    assert paths == ["/root/look", "/root/look"]


@pytest.mark.parametrize(
    "declared",
    [
        {"subagents": [Helper, Helper]},
        {"subagents": "Helper"},
        {"subagents": [str]},
        {"subagent_limits": SubagentLimits(max_turns=0)},
        {"subagent_limits": SubagentLimits(wait_timeout=-1)},
    ],
)
def test_bad_declarations_are_refused(declared: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Agent(**declared)


def test_a_subagent_needs_an_agent_or_a_factory() -> None:
    for arguments in (
        {},
        {"factory": lambda request: Helper()},
        {"agent": Helper, "factory": print},
    ):
        with pytest.raises(ConfigurationError):
            Subagent(**arguments)


def test_conversations_go_on_in_a_later_run(tmp_path: Path) -> None:
    def lead(*turns: Any) -> tuple[Agent, ScriptedModel, ScriptedModel]:
        model, own = ScriptedModel(*turns), ScriptedModel("Noted.", "Blue.")
        runtime = Runtime(session_store=FilesystemStore(tmp_path))
        return Agent(model=model, subagents=[Helper(model=own)], runtime=runtime), model, own

    first, _, _ = lead(spawn("look"), "Done.")
    first.ask("Go", session_id="s", actor_id="a")
    second, model, own = lead(LIST, say("look", "Which?"), spawn("look"), "Done.")
    second.ask("Go on", session_id="s", actor_id="a")
    listed, answered, taken = answers(model)[-3:]
    assert listed["subagents"][0]["resumed"] is True
    assert (answered["turn"], answered["response"]) == (2, "Noted.")
    assert "already a subagent" in taken
    assert [message.text for message in own.requests[0].messages] == [
        "Do look.",
        "Noted.",
        "Which?",
    ]
    other, model, _ = lead(LIST, "Done.")
    other.ask("Go", session_id="another", actor_id="a")
    assert answers(model)[0]["subagents"] == []


@pytest.mark.parametrize("asynchronous", [False, True])
def test_those_at_work_are_stopped_and_told(asynchronous: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    @tool
    def work(context: RunContext) -> str:
        """Works."""
        begun.set()
        while not context.cancellation_token.cancelled:
            time.sleep(0.001)
        ended.set()
        return "stopped"

    helper = Helper(model=ScriptedModel({"tool": work, "input": {}}), tools=[work])
    model = ScriptedModel(spawn("look", "async"), until(begun), repeat=True)
    before = threading.active_count()
    lead = Agent(model=model, subagents=[helper], subagent_limits=SubagentLimits(wait_timeout=0.01))
    run = ask(lead, asynchronous)
    assert run.response == "Done."
    assert ended.is_set()
    assert threading.active_count() <= before + asynchronous


def test_code_that_does_not_stop_fails_the_clean_up() -> None:
    begun, release = threading.Event(), threading.Event()

    @tool
    def stuck() -> str:
        """Hangs."""
        begun.set()
        release.wait(30)
        return ""

    helper = Helper(model=ScriptedModel({"tool": stuck, "input": {}}), tools=[stuck])
    lead = Agent(
        model=ScriptedModel(spawn("look", "async"), until(begun), repeat=True),
        subagents=[helper],
        subagent_limits=SubagentLimits(close_timeout=0.1, wait_timeout=0.01),
    )
    try:
        with pytest.raises(CleanupError):
            lead.ask("Go")
    finally:
        release.set()


def test_kinds_are_names_and_factories_functions() -> None:
    unusable: Any = 3
    with pytest.raises(ConfigurationError, match="kind of a Subagent must be a name, not 3"):
        Subagent(Helper, kind=unusable)
    with pytest.raises(ConfigurationError, match="factory of a Subagent must be a function, not 3"):
        Subagent(kind="helper", factory=unusable)
