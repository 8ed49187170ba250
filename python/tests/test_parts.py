"""What participants of an assembly have for themselves: what they opened is closed when their attempt ends."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from itertools import pairwise
from typing import Any

import pytest
from participants import WAYS

from little_ghost import (
    Agent,
    AssemblyStepTimeoutError,
    Graph,
    Tool,
    Workflow,
    WorkflowInvocation,
)
from little_ghost.testing import ScriptedModel


def noting(log: list[str]) -> type[Tool]:
    """A tool of which each agent has its own, and which notes what happens to it."""

    class Note(Tool):
        """Notes a text."""

        def call(self, text: str) -> str:
            log.append(text)
            return text

        def close(self) -> None:
            log.append("closed")

    return Note


def node(word: str, *tools: Any) -> Agent:
    model = ScriptedModel({"tool": "note", "input": {"text": word}}, f"{word} is done")
    return Agent(name=word, model=model, tools=list(tools))


def row(*agents: Agent) -> Graph:
    names = [agent.name or "" for agent in agents]
    return Graph(
        name="row",
        nodes=dict(zip(names, agents)),
        edges=list(pairwise(names)),
        start=names[0],
        finish=names[-1],
    )


@pytest.mark.parametrize("way", WAYS)
def test_each_is_closed_before_the_next_begins(way: str) -> None:
    log: list[str] = []
    tool = noting(log)
    run = WAYS[way](row(node("one", tool), node("two", tool)), "go")
    assert run.response == "two is done"
    assert log == ["one", "closed", "two", "closed"]


@pytest.mark.parametrize("way", WAYS)
def test_one_given_up_before_it_is_ready_is_closed(way: str) -> None:
    log: list[str] = []

    class Late:
        """Gives tools too late."""

        def tools(self, binding: Any) -> list[Any]:
            time.sleep(0.1)
            return []

    class Flow(Workflow):
        def perform(self) -> WorkflowInvocation:
            with pytest.raises(AssemblyStepTimeoutError):
                self.invoke(node("slow", noting(log), Late()), timeout=0.02).output()
            return self.invoke(node("last", noting([])))

    run = WAYS[way](Flow(name="flow"), "go")
    assert (run.response, log) == ("last is done", ["closed"])


def test_one_that_cannot_be_closed_fails_its_attempt() -> None:
    class Note(Tool):
        """Notes a text."""

        def call(self, text: str) -> str:
            return text

        async def aclose(self) -> None:
            raise OSError("stuck")

    run = row(node("one", Note), node("two", noting([]))).ask("go")
    assert run.outcome == "failed"
    assert isinstance(run.error, OSError)


def test_a_consumer_that_is_cancelled_meanwhile_leaves_nothing_half_closed() -> None:
    log: list[str] = []
    closing = asyncio.Event()

    class Note(Tool):
        """Notes a text."""

        def call(self, text: str) -> str:
            return text

        async def aclose(self) -> None:
            closing.set()
            await asyncio.sleep(0.01)
            log.append("closed")

    class Second(Note):
        """Another one."""

    async def leave() -> str | None:
        stream = row(node("one", Second, Note), node("two")).stream_async("go")

        async def read() -> None:
            async for _ in stream:
                pass

        task = asyncio.create_task(read())
        await closing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return stream.run.outcome

    assert asyncio.run(leave()) == "cancelled"
    assert log == ["closed", "closed"]


def test_an_exit_while_one_is_closed_lets_the_others_be_closed() -> None:
    log: list[str] = []

    class Note(Tool):
        """Notes a text."""

        def call(self, text: str) -> str:
            return text

        def close(self) -> None:
            raise KeyboardInterrupt

    class Kept(noting(log)):  # type: ignore[misc]
        """Closed later, because it was made earlier."""

    with pytest.raises(KeyboardInterrupt):
        row(node("one", Kept, Note), node("two")).ask("go")
    assert log == ["closed"]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_one_that_is_done_is_kept(way: str) -> None:
    made: list[weakref.ref[Tool]] = []
    left: list[int] = []

    class Note(Tool):
        """Notes a text."""

        def __init__(self) -> None:
            super().__init__()
            made.append(weakref.ref(self))

        def call(self, text: str) -> str:
            if text == "two":
                gc.collect()
                left.append(sum(ref() is not None for ref in made))
            return text

    run = WAYS[way](row(node("one", Note), node("two", Note)), "go")
    assert (run.response, left) == ("two is done", [1])
