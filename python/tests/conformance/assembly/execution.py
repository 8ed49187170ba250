"""One run of such a case through the package's public API."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from little_ghost import (
    CancellationToken,
    Error,
    Message,
    Run,
    Runtime,
    Session,
    StreamEvent,
)

from ..shape import error_shape, plain
from .cast import Cast
from .notation import Notation
from .steps import Steps

Data = dict[str, Any]


def declared(case: Data) -> Any:
    """What is asked, without anything to run it with."""
    return Cast(case, None, asynchronous=False)[case["ask"]]


def refusal(case: Data) -> Data | None:
    """What is wrong with the declarations."""
    try:
        declared(case).validate()
    except (Error, ValueError, TypeError) as error:
        return error_shape(error)
    return None


class Execution:
    """One run of a case against a scenario of the scripted server."""

    def __init__(self, case: Data, scenario: Any) -> None:
        self.case = case
        self.scenario = scenario
        self.events: list[Any] = []
        self.counter: Counter[str] = Counter()
        self.notation = Notation(case)
        self.token = CancellationToken()
        connection = {
            "adapter": "openai_compatible",
            "api": "chat_completions",
            "base_url": scenario.base_url,
            "api_key": "test-key",
        }
        self.runtime = Runtime(providers={"scripted": connection})

    def run(self) -> Data:
        """Through `stream`."""
        assembly = self._prepared(asynchronous=False)
        stream = assembly.stream(self.case["invocation"]["message"], **self._options())
        for event in stream:
            if self._leaves_after(event):
                break
        return self._seen(stream.run)

    async def run_async(self) -> Data:
        """Through `stream_async`."""
        assembly = self._prepared(asynchronous=True)
        message = self.case["invocation"]["message"]
        async with assembly.stream_async(message, **self._options()) as stream:
            async for event in stream:
                if self._leaves_after(event):
                    break
        return self._seen(stream.run)

    def _prepared(self, *, asynchronous: bool) -> Any:
        spec = self.case.get("session")
        if spec is not None:
            messages = [Message.from_dict(message) for message in spec.get("messages", ())]
            self._session().replace(messages, state=spec.get("state", {}))
        return Cast(self.case, self.runtime, asynchronous=asynchronous)[self.case["ask"]]

    def _session(self) -> Session:
        return Session(self.case["invocation"]["session_id"], self.runtime.session_store)

    def _options(self) -> Any:
        options = {"include_agent_events": False, **self.case["invocation"]}
        del options["message"]
        if options["include_agent_events"] == "default":
            del options["include_agent_events"]
        if "deadline_in" in options:
            options["deadline_at"] = time.time() + options.pop("deadline_in")
        return {**options, "cancellation_token": self.token}

    def _leaves_after(self, event: StreamEvent) -> bool:
        """Notes the event and does what the consumer does then; true when it leaves."""
        entry = _wrapped(event) if event.type == "agent_stream" else _own(event)
        self.events.append(entry)
        note = self.notation.note(*entry)
        if note is None:
            return False
        self.counter[note] += 1
        for step in self.case["steps"]:
            if (step["on"], step.get("nth", 1)) != (note, self.counter[note]):
                continue
            match step["do"]:
                case "cancel":
                    self.token.cancel()
                case "break":
                    return True
                case {"signal": label}:
                    self.scenario.signal(label)
                case other:
                    raise AssertionError(f"unknown step {other}")
        return False

    def _seen(self, run: Run) -> Data:
        result = run.result
        steps = Steps(result.trajectory) if result else None
        return {
            "events": self.events,
            "outcome": run.outcome,
            "response": run.response,
            "usage": plain(run.usage),
            "error": error_shape(run.error),
            "output": plain(result.output) if result else None,
            "state": plain(result.state) if result else None,
            "result": plain(result) if result else None,
            "steps": steps.shorten() if steps else [],
            "concurrent": steps.concurrent if steps else None,
            "session": self._found_session(),
            "journal": self._journal(),
        }

    def _found_session(self) -> Data | None:
        if "session" not in self.case["expect"]:
            return None
        found = self._session().load()
        return None if found is None else found.to_dict()

    def _journal(self) -> list[Data]:
        broken = len(self.case["expect"].get("broken_off", []))
        journal: list[Data] = (
            self.scenario.wait(disconnects=broken) if broken else self.scenario.journal()
        )
        return journal


def _own(event: StreamEvent) -> tuple[str, Data, None]:
    return event.type, plain(event.data), None


def _wrapped(event: StreamEvent) -> tuple[str, Data, Data]:
    """A participant's event with the way to it."""
    source, inner, asked = event.data["source"], event.data["event"], event.data.get("input")
    way = {
        "agent_id": source.agent_id,
        "path": [plain(step) for step in source.assembly_path],
        "input": None if asked is None else asked.text,
    }
    return inner.type, plain(inner.data), way
