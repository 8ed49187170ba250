"""What participants of an assembly have for themselves: what they opened is closed when their attempt ends."""

from __future__ import annotations

import gc
import weakref
from itertools import pairwise
from typing import Any

import pytest
from participants import WAYS

from little_ghost import Agent, Graph, Tool
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
