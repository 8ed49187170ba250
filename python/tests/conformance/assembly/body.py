"""The body of a workflow, statement by statement."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..shape import error_shape
from ..toolbox import Boom
from .template import fill

if TYPE_CHECKING:
    from collections.abc import Generator

    from .cast import Cast

Data = dict[str, Any]


class Body:
    """One call of a body. What it waits for is yielded: outputs to be read, and parallel calls."""

    def __init__(self, cast: Cast, flow: Any) -> None:
        self.cast = cast
        self.flow = flow
        self.known: Data = {}

    def run(self, statements: list[Data]) -> Any:
        """The plain form."""
        steps = self._statements(statements)
        answer: Any = None
        failure: BaseException | None = None
        while True:
            try:
                wanted = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as end:
                return end.value
            failure = None
            try:
                answer = self._read(wanted)
            except Exception as error:
                failure = error

    def _read(self, wanted: Any) -> Any:
        if isinstance(wanted, tuple):
            return self.flow.parallel(*wanted[0], **wanted[1])
        return wanted.output()

    async def run_async(self, statements: list[Data]) -> Any:
        """The coroutine form."""
        steps = self._statements(statements)
        answer: Any = None
        failure: BaseException | None = None
        while True:
            try:
                wanted = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as end:
                return end.value
            failure = None
            try:
                parallel = isinstance(wanted, tuple)
                answer = await (
                    self.flow.parallel_async(*wanted[0], **wanted[1]) if parallel else wanted
                )
            except Exception as error:
                failure = error

    def _statements(self, statements: list[Data]) -> Generator[Any, Any, Any]:
        for statement in statements:
            done = yield from self._step(statement)
            if done is not None:
                return done
        return None

    def _step(self, statement: Data) -> Generator[Any, Any, Any]:
        match statement:
            case {"let": name, "of": call}:
                self.known[name] = yield self._invoke(call)
            case {"let": name, "parallel": calls, **more}:
                self.known[name] = yield [self._invoke(call) for call in calls], more
            case {"prepare": name, "of": call}:
                self.known[name] = self._invoke(call)
            case {"read": name, "as": other}:
                self.known[other] = yield self.known[name]
            case {"if": condition, "then": then, **more}:
                holds = self._fill(condition["that"]) == condition["is"]
                return (yield from self._statements(then if holds else more.get("else", [])))
            case {"try": tried, "catch": name, "then": then}:
                from .cast import exceptions

                try:
                    return (yield from self._statements(tried))
                except exceptions([name]) as error:
                    self.known["error"] = (error_shape(error) or {})["class"]
                return (yield from self._statements(then))
            case {"raise": message}:
                raise Boom(message)
            case {"return": call}:
                return self._invoke(call)
            case {"return_prepared": name}:
                return self.known[name]
            case {"return_value": text}:
                return self._fill(text)
            case other:
                raise AssertionError(f"unknown statement {other}")
        return None

    def _invoke(self, call: Any) -> Any:
        spec = {"run": call} if isinstance(call, str) else call
        options = {key: spec[key] for key in ("history", "context") if key in spec}
        if "input" in spec:
            options["input"] = self._fill(spec["input"])
        return self.flow.invoke(
            self.cast[spec["run"]], as_=spec.get("as"), **options, **self.cast.policy(spec)
        )

    def _fill(self, text: str) -> str:
        def lookup(name: str, key: str | None) -> Any:
            match name:
                case "input":
                    return self.flow.input.text
                case "history":
                    return [message.text for message in self.flow.history]
                case "context":
                    return self.flow.context.get(key)
            value = self.known[name]
            assert not inspect.isawaitable(value), f"{name} was not read"
            return value[key] if key else value

        return fill(text, lookup)
