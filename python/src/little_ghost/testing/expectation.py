"""What a test expected and did not happen."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Error


class UnmetExpectation(AssertionError):
    """A turn that was never needed, a request that was not recorded, a fault that did not happen."""


def expect(check: Callable[[], None]) -> None:
    """Raises what the engine says of an expectation as `UnmetExpectation`."""
    try:
        check()
    except Error as error:
        if type(error) is not Error:
            raise
        raise UnmetExpectation(str(error)) from None
