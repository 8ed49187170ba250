"""What assemblies with declared routes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ..entrypoint import Entrypoint
from .base import Assembly
from .table import check_assembly

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..runtime import Runtime
    from .table import HostTable


class RoutedOptions(TypedDict, total=False):
    """What the constructors of `Graph` and `Swarm` take besides participants and routes.

    Attributes:
        name: Identifier in events, steps and tools.
        description: What it is for.
        max_steps: The most executions of participants.
        prompt_locals: What the templates of its agents may use.
        runtime: Connections and models of its own, instead of the shared ones. All participants use them.
    """

    name: str | None
    description: str | None
    max_steps: int | None
    prompt_locals: Mapping[str, Any] | None
    runtime: Runtime | None


class Routed(Assembly):
    """An assembly whose routes are declared, so that they can be checked before anything runs."""

    max_steps: int | None = None

    def __init__(self, options: RoutedOptions, **declared: Any) -> None:
        """Notes what a constructor was given; what is left out comes from the class.

        Raises:
            TypeError: An argument that it does not take.
        """
        unknown = sorted(set(options) - set(RoutedOptions.__annotations__))
        if unknown:
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument {unknown[0]!r}"
            )
        given: dict[str, Any] = {**options, **declared}
        self._declare(given.pop("runtime", None), **given)

    @Entrypoint
    def validate(self) -> Self:
        """Checks participants and routes before the first run.

        Raises:
            ConfigurationError: They cannot work; the message says why.
            ValueError: A limit or policy is impossible.
        """
        check_assembly(self)
        return self

    def _describe(self, table: HostTable) -> dict[str, Any]:
        return {**super()._describe(table), "max_steps": self.max_steps}
