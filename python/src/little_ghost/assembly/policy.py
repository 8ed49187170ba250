"""How long a participant may take, and how often it is tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from .table import HostTable

ExceptionTypes: TypeAlias = "type[BaseException] | Iterable[type[BaseException]]"
"""A class of exceptions, or several."""


class StepPolicy(TypedDict, total=False):
    """How long a participant may take, and how often it is tried.

    A timeout cancels coroutines, and asks plain code to stop by the `context` of its tools. That cannot be ended by
    force; what it answers too late is dropped. Another attempt repeats everything
    that the participant did, so name only failures after which that is safe.

    Attributes:
        timeout: Seconds for each attempt.
        retries: Further attempts after the first; 0 by default.
        retry_on: The exceptions after which there is another one. Cancellation, failed clean-up and the
            run's own deadline never are.
        retry_delay: Seconds before each further attempt; 0 by default.
    """

    timeout: float | None
    retries: int
    retry_on: ExceptionTypes | None
    retry_delay: float


def describe_policy(policy: StepPolicy, table: HostTable) -> dict[str, Any]:
    """A policy as the engine takes it.

    Raises:
        TypeError: There is no such option, or `retry_on` holds something else than exception classes.
    """
    check_policy(policy)
    retry_on = policy.get("retry_on")
    return {
        "timeout": policy.get("timeout"),
        "retries": policy.get("retries") or 0,
        "retry_delay": policy.get("retry_delay") or 0,
        "retry_on": None if retry_on is None else table.key(exception_types("retry_on", retry_on)),
    }


def check_policy(policy: StepPolicy) -> None:
    """Sees to it that nothing was misspelt.

    Raises:
        TypeError: There is no such option.
    """
    for name in policy:
        if name not in StepPolicy.__annotations__:
            known = ", ".join(StepPolicy.__annotations__)
            raise TypeError(f"a participant has no option {name}; use {known}")


def exception_types(name: str, given: ExceptionTypes) -> tuple[type[BaseException], ...]:
    """Classes of exceptions, as `isinstance` takes them.

    Raises:
        TypeError: Something else is among them, or there are none.
    """
    types = tuple(given) if isinstance(given, (list, tuple, set, frozenset)) else (given,)
    for item in types:
        if not (isinstance(item, type) and issubclass(item, BaseException)):
            raise TypeError(f"{name} must hold exception classes, not {item!r}")
    if not types:
        raise TypeError(f"{name} must name at least one exception class")
    return types
