"""Fixtures for pytest.

Name the plugin in the `conftest.py` of your tests:

    pytest_plugins = ["little_ghost.testing.pytest_plugin"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from . import Cassette, ScriptedModel, cassette, use_model


@pytest.fixture
def scripted_model() -> Iterator[Callable[..., ScriptedModel]]:
    """A function that has a `ScriptedModel` answer for every agent until the test ends.

    It takes what `use_model` takes, and applies to every thread and task. A script that was not followed to its end
    fails the test.
    """
    with ExitStack() as blocks:

        def use(*turns: Any, **options: Any) -> ScriptedModel:
            return blocks.enter_context(use_model(*turns, everywhere=True, **options))

        yield use


@pytest.fixture
def little_ghost_cassette(request: pytest.FixtureRequest) -> Iterator[Cassette]:
    """A cassette for the whole test, in `cassettes/TEST_FILE/TEST_NAME.json` beside the test's file.

    It applies to every thread and task. Options for `cassette` come from a mark, as in
    `@pytest.mark.little_ghost_cassette(scrub=["Ada Lovelace"])`.
    """
    mark = request.node.get_closest_marker("little_ghost_cassette")
    options = {} if mark is None else mark.kwargs
    file = Path(request.path)
    name = "".join(letter if letter.isalnum() else "_" for letter in request.node.name)
    path = file.parent / "cassettes" / file.stem / f"{name}.json"
    with cassette(path, everywhere=True, **options) as tape:
        yield tape


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    config.addinivalue_line(
        "markers", "little_ghost_cassette(mode, scrub, ignore): options of the test's cassette"
    )
