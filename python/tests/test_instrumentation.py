"""Operations and their subscribers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from scripted import calls, says

from little_ghost import ContentCapture, Error, Runtime, ToolLoop, events, instrumentation, tool
from little_ghost.instrumentation import Bus, Subscriber


class Recorder(Subscriber):
    def __init__(self) -> None:
        self.told: list[tuple[str, str, dict[str, Any]]] = []

    def start(self, name: str, attributes: Mapping[str, Any]) -> None:
        self.told.append(("start", name, dict(attributes)))

    def finish(self, name: str, attributes: Mapping[str, Any]) -> None:
        self.told.append(("finish", name, dict(attributes)))

    def emit(self, name: str, attributes: Mapping[str, Any]) -> None:
        self.told.append(("emit", name, dict(attributes)))


def test_operations_nest() -> None:
    recorder = Recorder()
    bus = Bus([recorder])
    with bus.with_context(request="r-1"), bus.instrument("outer", size=1) as facts:
        outer = bus.current()
        assert outer is not None and outer.active and outer.owned and not outer.local_parent
        with bus.instrument("inner"):
            inner = bus.current()
            assert inner is not None and inner.local_parent
            assert inner.parent_operation_id == outer.operation_id
            bus.publish("note", text="x")
        facts["count"] = 2
    assert bus.current() is None and not bus.active()
    assert [(kind, name) for kind, name, _ in recorder.told] == [
        ("start", "outer"),
        ("start", "inner"),
        ("emit", "note"),
        ("finish", "inner"),
        ("finish", "outer"),
    ]
    last = recorder.told[-1][2]
    assert (last["size"], last["count"], last["request"]) == (1, 2, "r-1")
    assert last["duration_ms"] >= 0 and "parent_operation_id" not in last
    assert recorder.told[2][2]["operation_id"] == inner.operation_id


def test_a_block_that_raises() -> None:
    recorder = Recorder()
    bus = Bus([recorder])
    with pytest.raises(LookupError), bus.instrument("work"):
        raise LookupError("s3cret")
    _, _, facts = recorder.told[-1]
    assert (facts["outcome"], facts["error_type"]) == ("error", "LookupError")
    assert "s3cret" not in str(recorder.told)


def test_the_order_of_endings() -> None:
    bus = Bus()
    outer = bus.start("outer")
    inner = bus.start("inner")
    with pytest.raises(Error, match="what began within it"):
        outer.finish()
    failures: list[Exception] = []

    def elsewhere() -> None:
        try:
            inner.finish()
        except Error as error:
            failures.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "ends where it began" in str(failures[0])
    inner.finish(count=1)
    with pytest.raises(Error, match="is not active"):
        inner.finish()
    sibling = bus.start("sibling", parent=None)
    assert sibling.parent_operation_id is None
    with pytest.raises(Error, match="ends where it began"):
        outer.finish()
    sibling.finish()
    outer.finish()


def test_detached_operations_end_anywhere() -> None:
    bus = Bus()
    handle = bus.start("work", detached=True, operation_id="w-1", parent="far")
    assert bus.current() is None and handle.parent_operation_id == "far"
    with pytest.raises(ValueError, match="w-1 goes on already"):
        bus.start("work", operation_id="w-1")
    child = bus.start("child", parent=handle, detached=True)
    with pytest.raises(Error, match="what began within it"):
        handle.finish()
    thread = threading.Thread(target=child.finish)
    thread.start()
    thread.join()
    assert handle.finish(count=3)["count"] == 3


def test_tasks_own_their_operations() -> None:
    bus = Bus()

    async def main() -> None:
        with bus.instrument("outer"):
            outer = bus.current()

            async def part(name: str) -> None:
                with bus.instrument(name):
                    await asyncio.sleep(0)
                    current = bus.current()
                    assert current is not None and outer is not None
                    assert current.name == name
                    assert current.parent_operation_id == outer.operation_id

            await asyncio.gather(part("a"), part("b"))

    asyncio.run(main())
    assert not bus.active()


def test_subscribers_come_and_go() -> None:
    first, second, scoped, early = Recorder(), Recorder(), Recorder(), Recorder()
    bus = Bus()
    assert not bus.listening
    bus.subscribe(second)
    bus.subscribe(second)
    bus.subscribe(first, prepend=True)
    order: list[str] = []
    for name, recorder in (("f", first), ("s", second), ("x", scoped), ("e", early)):
        recorder.emit = lambda *_, name=name: order.append(name)  # type: ignore[method-assign,misc]
    with bus.subscribed(scoped), bus.subscribed(early, prepend=True):
        bus.publish("a")
    bus.unsubscribe(second)
    bus.publish("b")
    assert order == ["e", "f", "s", "x", "f"]


def test_a_broken_subscriber_breaks_nothing() -> None:
    class Broken(Subscriber):
        def start(self, name: str, attributes: Mapping[str, Any]) -> None:
            raise LookupError

    recorder = Recorder()
    bus = Bus([Broken(), recorder])
    told: list[events.Event] = []
    with events.subscribed(told.append):
        for _ in range(2):
            with bus.instrument("work"):
                pass
    assert len(recorder.told) == 4
    assert [(event.name, event.payload) for event in told] == [
        (
            "little_ghost.instrumentation.listener_failed",
            {"component": "Broken", "error_type": "LookupError"},
        )
    ]


def test_content_needs_a_policy() -> None:
    class Policy:
        def capture(self, values: Mapping[str, Any]) -> Mapping[str, str]:
            return {f"diagnostic_{k}": f"<{v}>" for k, v in values.items() if k != "output"}

    recorder = Recorder()
    bus = Bus([recorder])
    bus.publish("a", diagnostic={"input": "secret"})
    bus.capture_content(Policy())
    handle = bus.start("b", diagnostic={"input": 1})
    bus.finish(handle, diagnostic={"output": 2})
    bus.capture_content(None)
    bus.publish("c", diagnostic={"input": "secret"})
    assert recorder.told[1][2]["diagnostic_input"] == "<1>"
    assert "secret" not in str(recorder.told) and "diagnostic_output" not in str(recorder.told)


def test_traces_flushing_and_the_end() -> None:
    calls: list[tuple[str, float | None]] = []

    class Backend(Subscriber):
        def __init__(self, fields: dict[str, str] | None) -> None:
            self.fields = fields

        def trace_context(self, **attributes: Any) -> Mapping[str, str] | None:
            return self.fields

        def flush(self, timeout: float | None = None) -> None:
            calls.append(("flush", timeout))

        def shutdown(self, timeout: float | None = None) -> None:
            calls.append(("shutdown", timeout))
            raise LookupError

    bus = Bus([Backend(None), Backend({"traceparent": "00-1"})])
    assert bus.trace_context() == {"traceparent": "00-1"}
    bus.flush(5)
    handle = bus.start("a")
    with pytest.raises(Error, match="operations go on"):
        bus.shutdown()
    handle.finish()
    bus.shutdown()
    bus.shutdown()
    assert [name for name, _ in calls] == ["flush", "flush", "shutdown", "shutdown"]
    assert all(timeout is not None and timeout <= 5 for name, timeout in calls if name == "flush")
    with pytest.raises(Error, match="was shut down"):
        bus.start("b")


def test_what_the_engine_measured_is_delivered() -> None:
    recorder = Recorder()
    bus = Bus([recorder])
    with bus.with_context(request="r-1"):
        bus.deliver("start", "model", {"operation_id": "m-1"})
        bus.deliver("notify", "model_retry", {"attempt": 1})
        bus.deliver("finish", "model", {"operation_id": "m-1", "duration_ms": 2})
    assert [(kind, name, facts["request"]) for kind, name, facts in recorder.told] == [
        ("start", "model", "r-1"),
        ("emit", "model_retry", "r-1"),
        ("finish", "model", "r-1"),
    ]


def test_the_bus_of_the_process() -> None:
    before = instrumentation.bus()
    recorder = Recorder()
    instrumentation.set_bus(Bus())
    try:
        Runtime(subscribers=[recorder], service_name="support")
        handle = instrumentation.start("work")
        with pytest.raises(Error, match="operations go on"):
            instrumentation.set_bus(before)
        assert instrumentation.current() is handle
        handle.finish()
        with instrumentation.with_context(a=1), instrumentation.instrument("more"):
            assert instrumentation.context() == {"a": 1}
            instrumentation.publish("note")
        instrumentation.unsubscribe(recorder)
        with instrumentation.subscribed(recorder):
            instrumentation.publish("scoped")
        instrumentation.subscribe(recorder)
        instrumentation.capture_content(None)
        instrumentation.flush()
        assert instrumentation.trace_context() == {}
        instrumentation.shutdown()
    finally:
        instrumentation.set_bus(before)
    names = [(kind, name) for kind, name, _ in recorder.told]
    assert names[:2] == [("start", "runtime"), ("finish", "runtime")]
    assert recorder.told[1][2]["outcome"] == "ready"
    assert recorder.told[0][2]["service_name"] == "support"
    assert names[-1] == ("emit", "scoped")


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_the_engine_tells_subscribers(scenario: Any, way: str) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    before = instrumentation.bus()
    instrumentation.set_bus(Bus())
    recorder = Recorder()
    try:
        provider = scenario(*[calls(("look", {}))] * 2, says("ok"), says("quiet"))
        agent = provider.agent(tools=[look], tool_loop=ToolLoop(warning_at=2, terminate_at=5))
        with instrumentation.subscribed(recorder), instrumentation.with_context(request="r-1"):
            run = agent.ask("x") if way == "ask" else asyncio.run(agent.ask_async("x"))
        assert run.response == "ok"
        told = len(recorder.told)
        loops = [facts for kind, name, facts in recorder.told if name == "tool_loop"]
        assert [(facts["tool_name"], facts["request"]) for facts in loops] == [("look", "r-1")]
        assert agent.ask("x").response == "quiet"
        assert len(recorder.told) == told
    finally:
        instrumentation.set_bus(before)


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_operations_of_a_run(scenario: Any, way: str) -> None:
    @tool
    def look(what: str) -> str:
        """Look."""
        return f"secret {what}"

    before = instrumentation.bus()
    try:
        provider = scenario(*[calls(("look", {"what": "sea"})), says("blue")] * 3)

        def measured(policy: Any, **options: Any) -> list[tuple[str, str, dict[str, Any]]]:
            agent = provider.agent(tools=[look], **options)
            recorder = Recorder()
            instrumentation.set_bus(Bus([recorder], policy))
            run = agent.ask("x") if way == "ask" else asyncio.run(agent.ask_async("x"))
            assert run.response == "blue"
            return recorder.told

        told = measured(None)
        names = [name for kind, name, _ in told if kind == "start"]
        assert sorted(names) == [
            "agent",
            "agent_turn",
            "agent_turn",
            "model",
            "model",
            "run",
            "tool",
        ]
        started = {facts["operation_id"] for kind, _, facts in told if kind == "start"}
        finished = {facts["operation_id"] for kind, _, facts in told if kind == "finish"}
        assert started == finished and len(started) == 7
        assert all("duration_ms" in facts for kind, _, facts in told if kind == "finish")
        # Without a policy no content is told.
        assert "sea" not in str(told) and "diagnostic" not in str(told)
        told = measured(ContentCapture(enabled=True))
        results = [facts for kind, name, facts in told if (kind, name) == ("finish", "tool")]
        assert "secret sea" in results[0]["diagnostic_output"]
        told = measured(ContentCapture(enabled=True), capture_diagnostics=False)
        assert not any("diagnostic_output" in facts for _, name, facts in told if name == "tool")
    finally:
        instrumentation.set_bus(before)


def test_notices_reach_listeners() -> None:
    from little_ghost._native import NOTICE
    from little_ghost.observation import observe

    noticed: list[events.Event] = []
    notice = {"level": "warn", "name": "little_ghost.model.unknown", "payload": {"model": "m"}}
    with events.subscribed(noticed.append):
        observe((NOTICE, notice))
    assert [(event.level, event.name, event.payload) for event in noticed] == [
        ("warn", "little_ghost.model.unknown", {"model": "m"})
    ]


def test_a_run_within_an_operation_of_the_application(scenario: Any) -> None:
    before = instrumentation.bus()
    recorder = Recorder()
    instrumentation.set_bus(Bus([recorder]))
    try:
        provider = scenario(says("ok"), says(["first", " second"]))
        agent = provider.agent()
        with instrumentation.instrument("job"):
            outer = instrumentation.current()
            assert outer is not None
            agent.ask("x")
        begun = next(
            facts for kind, name, facts in recorder.told if (kind, name) == ("start", "run")
        )
        assert begun["parent_operation_id"] == outer.operation_id
        assert begun["service_name"] == "little-ghost"

        # Operations end also for a consumer that leaves.
        recorder.told.clear()
        with agent.stream("x") as stream:
            next(event for event in stream if event.type == "text_delta")
        kinds = [kind for kind, _, _ in recorder.told]
        assert kinds.count("start") == kinds.count("finish") == 4
    finally:
        instrumentation.set_bus(before)
