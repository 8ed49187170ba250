"""Every conformance case, through `stream` and `stream_async`."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest
from conformance.execution import Execution
from conformance.suite import cases, differences
from scripted_llm import scripted_llm

CASES = cases()


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Collected once, after all cases: they are many."""


@pytest.fixture(scope="module", autouse=True)
def count() -> Iterator[None]:
    """Says how many cases there were."""
    yield
    gc.collect()
    print(f"\n{len(CASES)} conformance cases in Python, each through 2 doors")


@pytest.mark.parametrize("door", ["stream", "stream_async"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], door: str) -> None:
    execution = Execution(case, scripted_llm().script(case["exchanges"]))
    seen = execution.run() if door == "stream" else asyncio.run(execution.run_async())
    found = differences(case, seen)
    assert not found, f"{case['name']}: " + "\n".join(found)
