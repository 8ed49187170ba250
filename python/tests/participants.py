"""Agents that answer by a script, and every way to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from little_ghost import (
    Agent,
    Run,
)
from little_ghost.testing import ScriptedModel


class ResearchAgent(Agent):
    model = "nowhere:model"


class SupportAgent(Agent):
    model = "nowhere:model"


def agent(name: str, *turns: Any, repeat: bool = False, **options: Any) -> Agent:
    """An agent that answers by a script."""
    return Agent(name=name, model=ScriptedModel(*turns, repeat=repeat), **options)


def asked(model: ScriptedModel, number: int = -1) -> str:
    """What the model was asked last, or told by its tool."""
    last = model.requests[number].messages[-1]
    content: Any = last.content[0]
    return str(content.content) if hasattr(content, "content") else last.text


WAYS: dict[str, Callable[[Any, str], Run]] = {
    "ask": lambda assembly, text: assembly.ask(text),
    "ask_async": lambda assembly, text: asyncio.run(assembly.ask_async(text)),
    "stream": lambda assembly, text: drained(assembly.stream(text)),
    "stream_async": lambda assembly, text: asyncio.run(drained_async(assembly.stream_async(text))),
    "start_execution": lambda assembly, text: assembly.start_execution(text).wait(),
}


def drained(stream: Any) -> Run:
    for _ in stream:
        pass
    run: Run = stream.run
    return run


async def drained_async(stream: Any) -> Run:
    async for _ in stream:
        pass
    run: Run = stream.run
    return run
