"""Every conformance case of several agents, through `stream` and `stream_async`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from conformance.assembly.execution import Execution, declared, refusal
from conformance.assembly.script import exchanges
from conformance.assembly.suite import cases, differences, invalid, picture
from scripted_llm import scripted_llm

CASES = cases()


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Collected once, after all cases: they are many."""


@pytest.fixture(scope="module", autouse=True)
def count() -> Iterator[None]:
    """Says how many cases there were."""
    yield
    print(f"\n{len(CASES)} conformance cases of assemblies in Python, each through 2 doors")


@pytest.mark.parametrize("door", ["stream", "stream_async"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], door: str) -> None:
    found: list[str] = []
    if "invalid" in case["expect"]:
        found = invalid(case, refusal(case))
    if "mermaid" in case["expect"]:
        found = picture(case, declared(case).to_mermaid().splitlines())
    if "invocation" in case:
        script = scripted_llm().script(exchanges(case), unordered=True)
        execution = Execution(case, script)
        seen = execution.run() if door == "stream" else asyncio.run(execution.run_async())
        found += differences(case, seen)
    assert not found, f"{case['name']}: " + "\n".join(found)
