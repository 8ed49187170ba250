"""Fixtures: the scripted server, and agents that ask it."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator

import pytest
from scripted import Scenario, ScriptedLLM

for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def llm() -> Iterator[ScriptedLLM]:
    """The server, started once."""
    with contextlib.closing(ScriptedLLM()) as server:
        yield server


@pytest.fixture
def scenario(llm: ScriptedLLM) -> Callable[..., Scenario]:
    """Makes a provider that gives the answers one after the other."""
    return llm.scenario


@pytest.fixture(autouse=True)
def no_garbage() -> Iterator[None]:
    """What a test leaves behind is collected within it, so that its warnings are its own."""
    yield
    gc.collect()
