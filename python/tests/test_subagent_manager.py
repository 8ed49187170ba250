"""Subagents without an agent that delegates."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from test_subagents import Helper

from little_ghost import (
    Agent,
    CancellationToken,
    CancelledError,
    ConfigurationError,
    Error,
    RunContext,
    Runtime,
    Session,
    Subagent,
    SubagentLimits,
    SubagentManager,
    ToolError,
    agent_path,
    subagent_sessions,
    tool,
)
from little_ghost.session_store import FilesystemStore, MemoryStore
from little_ghost.testing import ScriptedModel


def helper(*turns: Any, **options: Any) -> Helper:
    return Helper(model=ScriptedModel(*turns), **options)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_subagents_work_without_an_agent(asynchronous: bool) -> None:
    told: list[str] = []
    own = helper("It is late.", "Still late.")
    manager = SubagentManager([own], observer=lambda event: told.append(event["event"]))

    def work() -> list[Any]:
        with manager:
            return [
                manager.spawn("helper", "look", "Look."),
                manager.send_message("/root/look", "And now?", "async"),
                manager.wait(),
                manager.list(),
            ]

    async def work_async() -> list[Any]:
        async with manager:
            return [
                await manager.spawn_async("helper", "look", "Look."),
                await manager.send_message_async("/root/look", "And now?", "async"),
                await manager.wait_async(),
                await manager.list_async(),
            ]

    first, second, waited, listed = asyncio.run(work_async()) if asynchronous else work()
    assert first == {
        "status": "finished",
        "subagent_id": "/root/look",
        "kind": "helper",
        "turn": 1,
        "response": "It is late.",
    }
    assert second["status"] == "working" and second["subagent"]["queued_turns"] == 1
    assert waited["subagents"][0]["response"] == "Still late."
    assert [one["subagent_id"] for one in listed["subagents"]] == ["/root/look"]
    assert told[:3] == ["spawned", "turn_started", "turn_finished"]
    texts = [message.text for message in own.model.requests[1].messages]  # type: ignore[union-attr]
    assert texts == ["Look.", "It is late.", "And now?"]
    with pytest.raises(ToolError, match="stopped"):
        manager.wait()
    manager.close()


def test_what_cannot_be_done_is_told() -> None:
    failing = Subagent(helper(ValueError("secret")), kind="failing")
    limits = SubagentLimits(max_identities=2, max_message_chars=10)
    with SubagentManager([helper("Late."), failing], limits=limits) as manager:
        with pytest.raises(ToolError, match="weather"):
            manager.spawn("weather", "look", "Look.")
        with pytest.raises(ToolError):
            manager.spawn("helper", "No Name", "Look.")
        for ask in (
            lambda: manager.send_message("/root/no", "Hi"),
            lambda: manager.wait(["/root/no"]),
        ):
            with pytest.raises(ToolError, match="/root/no"):
                ask()
        assert manager.spawn("helper", "long", "x" * 11)["status"] == "invalid_request"
        assert manager.spawn("helper", "one", "Look.")["status"] == "finished"
        failed = manager.spawn("failing", "two", "Look.")
        assert failed["status"] == "failed" and "secret" not in str(failed)
        assert manager.spawn("helper", "three", "Look.")["status"] == "capacity_reached"


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one kind"):
        SubagentManager([])
    with pytest.raises(ConfigurationError, match="two kinds"):
        SubagentManager([helper(), helper()])
    with pytest.raises(ValueError):
        SubagentManager([helper()], path="nowhere")
    with pytest.raises(ConfigurationError):
        SubagentManager([helper()], limits=SubagentLimits(max_turns=0))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_code_of_subagents_overlaps(asynchronous: bool) -> None:
    together = threading.Barrier(2, timeout=30)

    @tool
    def meet() -> str:
        """Waits for the other."""
        together.wait()
        return "met"

    kinds = [
        Subagent(helper({"tool": meet, "input": {}}, name, tools=[meet]), kind=name)
        for name in ("one", "two")
    ]

    def work() -> list[Any]:
        with SubagentManager(kinds) as manager:
            for name in ("one", "two"):
                assert manager.spawn(name, name, "Go.", "async")["status"] == "working"
            found: list[Any] = manager.wait()["subagents"]
            return sorted(found, key=lambda one: str(one["kind"]))

    async def work_async() -> list[Any]:
        async with SubagentManager(kinds) as manager:
            spawned = [manager.spawn_async(name, name, "Go.") for name in ("one", "two")]
            return list(await asyncio.gather(*spawned))

    answered = asyncio.run(work_async()) if asynchronous else work()
    assert [one["response"] for one in answered] == ["one", "two"]


async def test_coroutines_of_subagents_share_the_loop() -> None:
    loops: list[Any] = []

    @tool
    async def look() -> str:
        """Looks where it is."""
        loops.append(asyncio.get_running_loop())
        return "here"

    async with SubagentManager(
        [helper({"tool": look, "input": {}}, "Done.", tools=[look])]
    ) as manager:
        assert (await manager.spawn_async("helper", "look", "Look."))["response"] == "Done."
        assert loops == [asyncio.get_running_loop()]
        with pytest.raises(Error, match="_async"):
            manager.wait()


def test_a_caller_may_stop_waiting() -> None:
    begun, end = threading.Event(), threading.Event()

    @tool
    def work(context: RunContext) -> str:
        """Works."""
        begun.set()
        while not (end.is_set() or context.cancellation_token.cancelled):
            time.sleep(0.001)
        return "done"

    own = helper({"tool": work, "input": {}}, "Finished.", tools=[work])
    with SubagentManager([own], limits=SubagentLimits(wait_timeout=0.05)) as manager:
        token = CancellationToken()
        threading.Thread(target=lambda: (begun.wait(30), token.cancel())).start()
        with pytest.raises(CancelledError):
            manager.spawn("helper", "work", "Work.", context=RunContext(cancellation_token=token))
        assert manager.wait()["status"] == "still_working"
        end.set()


def test_closing_stops_what_works() -> None:
    begun, told = threading.Event(), threading.Event()

    @tool
    def work(context: RunContext) -> str:
        """Works for ever."""
        begun.set()
        while not context.cancellation_token.cancelled:
            time.sleep(0.001)
        told.set()
        return "late"

    with SubagentManager([helper({"tool": work, "input": {}}, tools=[work])]) as manager:
        manager.spawn("helper", "work", "Work.", "async")
        assert begun.wait(30)
    assert told.is_set()


def test_a_token_stops_all() -> None:
    token = CancellationToken()
    with SubagentManager([helper("Late.")], cancellation_token=token) as manager:
        manager.spawn("helper", "look", "Look.")
        token.cancel()
        with pytest.raises(CancelledError):
            manager.wait()


@pytest.mark.parametrize("durable", [False, True])
def test_sessions_keep_conversations(tmp_path: Path, durable: bool) -> None:
    store = FilesystemStore(tmp_path) if durable else MemoryStore()
    with SubagentManager([helper("It is late.")], session=Session("s", store)) as manager:
        manager.spawn("helper", "look", "Look.")
    own = helper("Still late.")
    with SubagentManager([own], session=Session("s", store)) as manager:
        assert [one["subagent_id"] for one in manager.list()["subagents"]] == ["/root/look"]
        assert manager.send_message("/root/look", "And now?")["response"] == "Still late."
    texts = [message.text for message in own.model.requests[0].messages]  # type: ignore[union-attr]
    assert texts == ["Look.", "It is late.", "And now?"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_model_may_use_its_tools(asynchronous: bool) -> None:
    spawn = {"kind": "helper", "task_name": "look", "task": "Look.", "mode": "sync"}
    model = ScriptedModel({"tool": "spawn_subagent", "input": spawn}, "Done.")
    with SubagentManager([helper("It is late.")], path="/root/desk") as manager:
        assert [one.name for one in manager.tools()][:1] == ["spawn_subagent"]
        lead = Agent(model=model, tools=[manager])
        run = asyncio.run(lead.ask_async("Go")) if asynchronous else lead.ask("Go")
        assert run.response == "Done.", run.error
        told = str(model.requests[1].messages[-1].content[0])
        assert "/root/desk/look" in told and "It is late." in told


def test_it_uses_its_own_runtime() -> None:
    runtime = Runtime(concurrency="inline")
    with SubagentManager([helper("Late.")], runtime=runtime) as manager:
        assert manager.spawn("helper", "look", "Look.")["response"] == "Late."
        assert repr(manager) == "<SubagentManager helper>"


def test_what_is_kept_can_be_found() -> None:
    store = MemoryStore()
    session = Session("s", store, actor_id="a")
    with SubagentManager([helper("It is late.")], session=session) as manager:
        manager.spawn("helper", "look", "Look.")
        number = manager.list()["subagents"][0]["conversation_id"]

    def kept(name: str) -> Session:
        return Session(name, store, actor_id="a")

    registry = kept(subagent_sessions.registry_session_id(session)).metadata()
    assert registry["little_ghost_parent_link"] == subagent_sessions.parent_link(session)
    transcript = kept(subagent_sessions.conversation_session_id(number)).history()
    assert [message.text for message in transcript] == ["Look.", "It is late."]
    slots = [
        subagent_sessions.commit_session_id(number, 0),
        subagent_sessions.commit_session_id(number, 1),
    ]
    assert [kept(slot).load() is not None for slot in slots].count(True) >= 1
    with pytest.raises(ValueError, match="slot"):
        subagent_sessions.commit_session_id(number, 2)  # type: ignore[arg-type]


def test_paths_of_agents() -> None:
    path = agent_path.join(agent_path.ROOT, "review_api")
    assert path == agent_path.validate("/root/review_api")
    assert agent_path.is_immediate_child(path, "/root")
    assert not agent_path.is_immediate_child(path, path)
    assert agent_path.validate_name("a_1") == "a_1"
    for name in ("", "A", "a b", "x" * 41):
        with pytest.raises(ValueError):
            agent_path.validate_name(name)
    for wrong in ("/", "root", "/root/", "/root/A"):
        with pytest.raises(ValueError):
            agent_path.validate(wrong)
