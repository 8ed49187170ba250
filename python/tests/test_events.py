"""Events and their listeners."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from typing import Any

import pytest

from little_ghost import Hook, Runtime, configure, events, with_configuration
from little_ghost.events import ConsoleListener, Event, Reporter


@pytest.fixture
def reporter() -> Any:
    before = events.reporter()
    made = Reporter()
    events.set_reporter(made)
    yield made
    events.set_reporter(before)


def test_listeners_and_filters(reporter: Any) -> None:
    everything: list[Event] = []
    warnings: list[Event] = []

    class Collector:
        def emit(self, event: Event) -> None:
            everything.append(event)

    collector = Collector()
    events.subscribe(collector)
    events.subscribe(warnings.append, filter=lambda event: event.level in ("warn", "error"))
    told = events.warn("support.case.stalled", case_id="case-42")
    events.debug("a")
    events.info("b", number=1.5, nested={"list": [None, True]})
    events.error("c")
    assert [event.level for event in everything] == ["warn", "debug", "info", "error"]
    assert [event.name for event in warnings] == ["support.case.stalled", "c"]
    assert told == everything[0] and told is not everything[0]
    assert told.payload == {"case_id": "case-42"} and told.timestamp > 1_600_000_000 * 10**9
    assert everything[2].to_dict()["payload"] == {"number": 1.5, "nested": {"list": [None, True]}}
    events.unsubscribe(collector)
    events.emit("info", "d")
    assert len(everything) == 4


def test_what_is_told_is_a_copy(reporter: Any) -> None:
    seen: list[Event] = []

    def spoil(event: Event) -> None:
        event.payload["list"].append("spoilt")

    events.subscribe(spoil)
    events.subscribe(seen.append)
    given = ["a"]
    told = events.info("x", list=given)
    given.append("b")
    assert (told.payload["list"], seen[0].payload["list"]) == (["a"], ["a"])


def test_data_that_cannot_be_told(reporter: Any) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    for value, error, text in (
        (object(), TypeError, r"payload\.value must be JSON-like data, not object"),
        ({1: 2}, TypeError, r"keys of payload\.value must be str"),
        ([float("nan")], ValueError, r"payload\.value\[0\] must be a finite number"),
        (cycle, ValueError, "contains itself"),
    ):
        with pytest.raises(error, match=text):
            events.info("x", value=value)
    with pytest.raises(ValueError, match="level must be one of"):
        reporter.emit("loud", "x")
    with pytest.raises(TypeError, match="a listener is a function"):
        events.subscribe(3)  # type: ignore[arg-type]


def test_a_broken_listener_breaks_nothing(reporter: Any, caplog: Any) -> None:
    class Broken:
        def emit(self, event: Event) -> None:
            raise LookupError("the secret is s3cret")

    seen: list[Event] = []
    events.subscribe(Broken())
    events.subscribe(seen.append)
    with caplog.at_level(logging.ERROR, "little_ghost"):
        events.info("a")
        events.info("b")
    assert [event.name for event in seen] == ["a", "b"]
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1
    assert messages[0].endswith("Broken failed: LookupError") and "s3cret" not in messages[0]


def test_context_and_scoped_listeners(reporter: Any) -> None:
    seen: list[Event] = []
    other: list[Event] = []

    def elsewhere() -> None:
        events.info("elsewhere")

    with events.subscribed(seen.append), events.with_context(request="r-1"):
        with events.with_context(step=2):
            events.info("inner")
            asyncio.run(asyncio.to_thread(events.info, "in a thread"))
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert events.context() == {"request": "r-1"}
    events.info("after")
    assert [(event.name, event.context) for event in seen] == [
        ("inner", {"request": "r-1", "step": 2}),
        ("in a thread", {"request": "r-1", "step": 2}),
    ]
    assert other == [] and events.context() == {}


def test_lines_of_json_without_secrets(reporter: Any) -> None:
    stream = io.StringIO()
    events.subscribe(ConsoleListener(stream))
    events.info("login", api_key="sk-1", text="Bearer abcdefghijklmnop", name="Zoë")

    events.subscribe(ConsoleListener(stream, lambda value: {"name": value["name"]}))
    events.info("second")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(lines) == 3
    assert lines[0]["payload"]["api_key"] == "[REDACTED]"
    assert "abcdefgh" not in stream.getvalue() and "Zoë" in stream.getvalue()
    assert lines[2] == {"name": "second"}


def test_logging_to_the_console(reporter: Any, capsys: Any) -> None:
    assert events.console_output() is None
    events.log_to("stderr")
    events.info("a")
    events.log_to("stdout")
    events.info("b")
    assert events.console_output() == "stdout"
    events.log_to(None)
    events.info("c")
    out, err = capsys.readouterr()
    assert (json.loads(err)["name"], json.loads(out)["name"]) == ("a", "b")
    with pytest.raises(ValueError, match="stdout"):
        events.log_to("file")  # type: ignore[arg-type]
    with with_configuration():
        configure(log_events_to="stderr")
        assert events.console_output() == "stderr"
        configure(log_events_to=None)
    assert events.console_output() is None


def test_the_start_of_a_runtime_is_told(reporter: Any) -> None:
    seen: list[Event] = []
    Runtime(event_listeners=[seen.append], service_name="support")

    class Broken(Hook):
        def __init__(self) -> None:
            raise LookupError

    # The same listener in another runtime still hears each event once.
    with pytest.raises(LookupError):
        Runtime(event_listeners=[seen.append], hooks=[Broken])
    told = [(event.level, event.payload["status"], event.payload["phase"]) for event in seen]
    assert told == [
        ("info", "starting", "configuration"),
        ("info", "ready", "complete"),
        ("info", "starting", "configuration"),
        ("error", "failed", "agent_factory"),
    ]
    assert seen[1].payload["service_name"] == "support" and seen[1].payload["duration_ms"] >= 0
    assert seen[3].payload["error_type"] == "LookupError"
