"""One run of a case through the package's public API."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from little_ghost import (
    Agent,
    CancellationToken,
    ContextManagement,
    Error,
    Message,
    ResultSchema,
    Run,
    Runtime,
    Session,
    StreamEvent,
    ToolLoop,
)

from .shape import error_shape, plain
from .toolbox import Toolbox

Data = dict[str, Any]


class Execution:
    """One run of a case against a scenario of the scripted server."""

    def __init__(self, case: Data, scenario: Any) -> None:
        self.case = case
        self.scenario = scenario
        self.seen: Data = {"events": []}
        self.counter: Counter[str] = Counter()
        self.token = CancellationToken()

    def run(self) -> Data:
        """Through `stream`."""
        agent = self._agent(asynchronous=False)
        if agent is not None:
            self._prepare_session(agent.runtime)
            try:
                stream = agent.stream(self._message(), **self._options())
                for event in stream:
                    if self._leaves_after(event):
                        break
                self._settle(stream.run)
            except (Error, ValueError) as error:
                self.seen["raised"] = error_shape(error)
        return self._with_journal()

    async def run_async(self) -> Data:
        """Through `stream_async`."""
        agent = self._agent(asynchronous=True)
        if agent is not None:
            self._prepare_session(agent.runtime)
            try:
                async with agent.stream_async(self._message(), **self._options()) as stream:
                    async for event in stream:
                        if self._leaves_after(event):
                            break
                self._settle(stream.run)
            except (Error, ValueError) as error:
                self.seen["raised"] = error_shape(error)
        return self._with_journal()

    def _agent(self, *, asynchronous: bool) -> Agent | None:
        spec = self.case["agent"]
        limits = dict(spec["limits"])
        connection = {
            "adapter": "openai_compatible",
            "base_url": self.scenario.base_url,
            "api_key": "test-key",
            **self.case["provider"],
        }
        connection = {
            key: self.scenario.base_url if value == "$base_url" else value
            for key, value in connection.items()
            if value is not None
        }
        try:
            return Agent(
                name=spec["id"],
                model=spec["model"],
                system_prompt=spec.get("system_prompt"),
                tools=Toolbox().tools(spec["tools"], asynchronous),
                runtime=Runtime(
                    providers={"scripted": connection},
                    models=self.case.get("models"),
                    default_model=self.case.get("default_model"),
                ),
                **limits,
                **_features(spec),
            )
        except (Error, ValueError) as error:
            self.seen |= {"raised": error_shape(error), "refused": True}
            return None

    def _session(self, runtime: Runtime) -> Session:
        return Session(
            self.case["invocation"]["session_id"],
            runtime.session_store,
            actor_id=self.case.get("session", {}).get("actor_id"),
        )

    def _prepare_session(self, runtime: Runtime) -> None:
        """Writes what the store has before the run."""
        spec = self.case.get("session")
        if spec is not None:
            messages = [Message.from_dict(message) for message in spec.get("messages", ())]
            self._session(runtime).replace(messages, state=spec.get("state", {}))

    def _message(self) -> Any:
        return self.case["invocation"]["message"]

    def _options(self) -> Any:
        options = dict(self.case["invocation"])
        del options["message"]
        if "deadline_in" in options:
            options["deadline_at"] = time.time() + options.pop("deadline_in")
        return {**options, "cancellation_token": self.token}

    def _leaves_after(self, event: StreamEvent) -> bool:
        """Notes the event and does what the consumer does then; true when it leaves."""
        self.seen["events"].append((event.type, plain(event.data)))
        self.counter[event.type] += 1
        for step in self.case["steps"]:
            if (step["on"], step["nth"]) != (event.type, self.counter[event.type]):
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

    def _settle(self, run: Run) -> None:
        self.seen |= {
            "outcome": run.outcome,
            "response": run.response,
            "usage": plain(run.usage),
            "cost": None if run.cost is None else format(run.cost.normalize(), "f"),
            "error": error_shape(run.error),
            "output": plain(run.result.output) if run.result else None,
            "state": plain(run.state),
        }
        if "session" in self.case["expect"]:
            found = self._session(run.runtime).load()
            self.seen["session"] = None if found is None else found.to_dict()

    def _with_journal(self) -> Data:
        requests = self.case["expect"]["requests"]
        broken = 0
        if isinstance(requests, list):
            broken = sum(bool(spec.get("disconnected")) for spec in requests)
        self.seen["journal"] = (
            self.scenario.wait(disconnects=broken) if broken else self.scenario.journal()
        )
        return self.seen


def _features(spec: Data) -> Data:
    found: Data = {}
    if "result_schema" in spec:
        found["result"] = ResultSchema(**spec["result_schema"])
    if "context_management" in spec:
        found["context_management"] = ContextManagement(**spec["context_management"])
    if "tool_loop" in spec:
        options = dict(spec["tool_loop"])
        options["except_"] = options.pop("except", ())
        found["tool_loop"] = ToolLoop(**options)
    return found
