"""The conformance cases about code mode."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.code_mode import CASES, Case


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("spec", CASES, ids=[spec["name"] for spec in CASES])
def test_case(spec: dict[str, Any], asynchronous: bool) -> None:
    differences = Case(spec).differences(asynchronous=asynchronous)
    assert not differences, "\n".join([spec["about"], *differences])
