"""Fixtures: scripted providers, and tests that see their own garbage."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from scripted import Provider

# A test asks the scripted server and nobody else.
for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY"):
    os.environ.pop(name, None)


@pytest.fixture
def scenario() -> type[Provider]:
    """Makes a provider that gives the answers one after the other."""
    return Provider


@pytest.fixture(autouse=True, scope="module")
def known_objects() -> None:
    """Takes what is there before a module's tests, such as the vendors' packages, out of what is searched."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_garbage() -> Iterator[None]:
    """What a test leaves behind is collected within it, so that its warnings are its own."""
    yield
    gc.collect()
