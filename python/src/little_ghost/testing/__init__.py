"""A test kit for applications: scripted models, recorded exchanges, and failures on demand.

    from little_ghost import testing

    def test_refunds():
        with testing.use_model("You have 30 days.") as model:
            run = SupportAgent.ask("Can I get a refund?")

        assert run.response == "You have 30 days."
        assert model.requests[-1].messages[-1].text == "Can I get a refund?"

A block applies to the runs that begin inside it, in its context: also to those of asyncio tasks and of threads of the
library that start inside. With `everywhere=True` it applies to every thread of the process, such as those of a
server under test. Nothing of your application changes.

It works with any test framework; `little_ghost.testing.pytest_plugin` has fixtures for pytest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..overlay import laid_over
from .cassette import Cassette, CassetteMode
from .expectation import UnmetExpectation
from .faults import Fault, Faults
from .scripted_model import ScriptedModel
from .turn import Turn

__all__ = [
    "Cassette",
    "CassetteMode",
    "Fault",
    "Faults",
    "ScriptedModel",
    "Turn",
    "UnmetExpectation",
    "cassette",
    "faults",
    "use_model",
]


@contextmanager
def use_model(
    *turns: Any,
    repeat: bool = False,
    capabilities: Mapping[str, Any] | None = None,
    verify: bool = True,
    everywhere: bool = False,
) -> Iterator[ScriptedModel]:
    """Has one model answer for every agent, whatever model the agent selects.

    Args:
        *turns: A `ScriptedModel`, or what it takes.
        repeat: As for `ScriptedModel`.
        capabilities: As for `ScriptedModel`.
        verify: Whether the script must have been followed to its end.
        everywhere: Whether it applies to every thread of the process.

    Yields:
        The model.

    Raises:
        UnmetExpectation: The model was asked more or less often than its script says.
    """
    if len(turns) == 1 and isinstance(turns[0], ScriptedModel):
        model = turns[0]
    else:
        model = ScriptedModel(*turns, repeat=repeat, capabilities=capabilities)
    with laid_over(model, everywhere=everywhere):
        yield model
    if verify:
        model.verify()


@contextmanager
def cassette(
    path: Any,
    *,
    mode: CassetteMode | None = None,
    scrub: Sequence[str] = (),
    ignore: Sequence[str] = (),
    everywhere: bool = False,
) -> Iterator[Cassette]:
    """Records real exchanges in a file, and plays them from then on.

    Args:
        path: The file, such as `"tests/cassettes/refund.json"`; `.json` is added when it has no suffix.
        mode: As for `Cassette`.
        scrub: As for `Cassette`.
        ignore: As for `Cassette`.
        everywhere: Whether it applies to every thread of the process.

    Yields:
        The cassette.

    Raises:
        UnmetExpectation: A request was not recorded, or an exchange was never asked for.
        ConfigurationError: The file cannot be played or written.
    """
    tape = Cassette(path, mode=mode, scrub=scrub, ignore=ignore)
    with laid_over(tape, everywhere=everywhere):
        yield tape
    tape.finish()


@contextmanager
def faults(*faults: Fault, verify: bool = True, everywhere: bool = False) -> Iterator[Faults]:
    """Has requests go wrong.

    Args:
        *faults: What goes wrong with which request; see `Fault`.
        verify: Whether every fault must have happened.
        everywhere: Whether it applies to every thread of the process.

    Yields:
        The faults, which count requests.

    Raises:
        UnmetExpectation: A fault's request was never sent.
    """
    planned = Faults(*faults)
    with laid_over(planned, everywhere=everywhere):
        yield planned
    if verify:
        planned.verify()
