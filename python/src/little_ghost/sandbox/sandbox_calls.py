"""What the engine asks of sandboxes that the application wrote, and of processes in them."""

from __future__ import annotations

import itertools
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from ..errors import Error
from .process_session import ExitStatus
from .programs import ProgramOptions
from .sandbox import Sandbox

if TYPE_CHECKING:
    from ..context import RunContext
    from .process_session import ProcessSession


class SandboxCalls:
    """The sandboxes of one agent at work, by number, and their processes."""

    __slots__ = ("_made", "_numbers", "_processes")

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._made: dict[int, Sandbox] = {}
        self._processes: dict[int, ProcessSession] = {}

    def describe(self, sandbox: Sandbox) -> dict[str, Any]:
        """A sandbox as the engine takes it, which knows it from now on."""
        number = next(self._numbers)
        self._made[number] = sandbox
        if sandbox._runs_in_engine:
            return {"native": sandbox._files.id}
        return {
            "host": {
                "key": number,
                "workspace": sandbox.workspace._native.id,
                "policy": sandbox.policy._declared(),
                "effective_policy": sandbox.effective_policy._declared(),
                "capabilities": sandbox.capabilities.to_dict(),
                "limits": sandbox.limits.to_dict(),
            }
        }

    def answer(self, payload: dict[str, Any], context: RunContext) -> Any:
        """Works in this thread."""
        operation = payload["op"]
        if operation.startswith("process_"):
            return self._use(payload["process"], operation.removeprefix("process_"), payload)
        sandbox = self._made[payload["key"]]
        if operation == "start":
            session = sandbox.start_program(
                payload["command"], context=context, **_options(payload)
            )
            number = next(self._numbers)
            self._processes[number] = session
            return {"process": number, "pid": session.pid}
        if operation == "execute":
            left = sandbox.execute_program(
                payload["command"],
                timeout=payload["timeout"],
                max_output_bytes=payload["max_output_bytes"],
                context=context,
                **_options(payload),
            )
            error = None if left.error is None else str(left.error)
            named = {"exit_code": left.exit_code, "error": error}
            return {"stdout": left.stdout, "stderr": left.stderr, **named}
        return _file(sandbox, operation, payload, context)

    def _use(self, number: int, operation: str, payload: dict[str, Any]) -> Any:
        session = self._processes.get(number)
        if session is None:
            if operation == "close":
                return None
            raise Error("the process is closed")
        if operation == "read":
            read = session.read(payload["timeout"])
            streams = {"stdout_base64": read.stdout, "stderr_base64": read.stderr}
            told = {name: b64encode(data).decode() for name, data in streams.items()}
            return {**told, "eof": read.eof}
        if operation == "write":
            return _nothing(session.write(b64decode(payload["data_base64"])))
        if operation == "alive":
            return session.is_alive()
        if operation == "wait":
            return _status(session.wait(payload["timeout"], terminate=payload["terminate"]))
        if operation == "terminate":
            return _status(session.terminate())
        if operation == "close_write":
            return session.close_write()
        self._processes.pop(number, None)
        return session.close()


def _file(sandbox: Sandbox, operation: str, payload: dict[str, Any], context: RunContext) -> str:
    path = payload["path"]
    if operation == "read":
        return sandbox.read(path, context=context)
    if operation == "list":
        return sandbox.list(path, context=context)
    if operation == "write":
        content = b64decode(payload["content_base64"]).decode()
        return sandbox.write(path, content, context=context)
    return sandbox.replace(path, payload["old_text"], payload["new_text"], context=context)


def _options(payload: dict[str, Any]) -> ProgramOptions:
    names = ProgramOptions.__annotations__
    given: Any = {name: payload[name] for name in names if payload.get(name) is not None}
    options: ProgramOptions = given
    return options


def _status(status: ExitStatus | None) -> dict[str, Any] | None:
    return None if status is None else {"code": status.code, "signal": status.signal}


def _nothing(_: Any) -> None:
    return None
