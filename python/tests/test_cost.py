"""What runs cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from scripted import Provider

from little_ghost import Agent, Run, RunResult, Runtime


def run_with(scenario: type[Provider], pricing: dict[str, Any]) -> Run:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    provider = scenario({"chat": {"text": "Hi", "usage": usage}})
    connection = {
        "adapter": "openai_compatible",
        "api": "chat_completions",
        "base_url": provider.base_url,
    }
    model = {"target": "scripted:m", "details": {"pricing": pricing}}
    runtime = Runtime(providers={"scripted": connection}, models={"default": model})
    return Agent(runtime=runtime).ask("hi")


@pytest.mark.parametrize(
    ("pricing", "cost"),
    [
        ({"input": 0.1, "output": "0.7"}, Decimal("0.000001")),
        ({"input": 2, "output": 0}, Decimal("0.000006")),
        ({"input": 2}, None),
        ({}, None),
    ],
)
def test_a_cost_is_an_exact_number(
    scenario: type[Provider], pricing: dict[str, Any], cost: Decimal | None
) -> None:
    run = run_with(scenario, pricing)
    assert run.cost == cost
    result = run.result
    assert result is not None
    assert result.cost == cost
    again = RunResult.from_dict(result.to_dict(), {})
    assert again.cost == cost
