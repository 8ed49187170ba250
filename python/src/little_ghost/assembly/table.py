"""What an assembly is made of, in one run: participants and functions by number.

The engine coordinates; it knows participants, conditions and the like only by their keys in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import ConfigurationError
from ..instructions import gives_locals
from .base import Assembly
from .place import Place

if TYPE_CHECKING:
    from ..runtime import Runtime


class _Around:
    """An assembly while what takes part in it is described."""

    def __init__(self, reference: Any, assembly: Assembly) -> None:
        self.reference = reference
        self.assembly = assembly

    @cached_property
    def gives_locals(self) -> bool:
        return gives_locals(self.assembly)


class HostTable:
    """Participants and functions of one run.

    Attributes:
        runtime: What all of them work with; None while nothing runs.
    """

    __slots__ = ("_inner", "_keys", "_outside", "_places", "_values", "_within", "runtime")

    def __init__(self, runtime: Runtime | None = None) -> None:
        self.runtime = runtime
        self._keys: dict[int, int] = {}
        self._places: dict[tuple[int, ...], Place] = {}
        self._values: list[Any] = []
        self._inner: list[dict[str, Any]] = []
        self._within: list[_Around] = []
        self._outside: Place | None = None

    def key(self, value: Any) -> int:
        """The key of an object, the same each time."""
        # The list holds the object, so that no other can get its id.
        key = self._keys.setdefault(id(value), len(self._values))
        if key == len(self._values):
            self._values.append(value)
        return key

    def __getitem__(self, key: int) -> Any:
        """The object with that key."""
        return self._values[key]

    def describe(self, reference: Any, within: Place | None = None) -> dict[str, Any]:
        """A participant as the engine takes it.

        Args:
            reference: The participant.
            within: Where it stands, when what is around it is not being described itself.

        Raises:
            ConfigurationError: It is none, or contains itself.
            AssemblyLimitError: It is inside of too many others.
        """
        assembly = self.participant(reference)
        described: dict[str, Any]
        if not self._within:
            self._inner = []
        before = self._outside
        self._outside = within or before
        try:
            with self._inside(reference, assembly):
                described = assembly._describe(self)
            if described["kind"] in ("agent", "workflow"):
                described["key"] = self.key(self._placed(reference))
        finally:
            self._outside = before
        return self._beside(described) if described["kind"] == "graph" else described

    def _beside(self, graph: dict[str, Any]) -> dict[str, Any]:
        """A graph inside of others is told by its place beside the outermost, which so is no deeper for it."""
        if self._within:
            self._inner.append(graph)
            return {"kind": "inner", "place": len(self._inner) - 1, "id": graph["id"]}
        return {**graph, "inner": self._inner}

    def _placed(self, reference: Any) -> Any:
        """The reference, with what is around it if that matters."""
        around, assemblies = (
            None,
            tuple(each.assembly for each in self._within if each.gives_locals),
        )
        if self._outside is not None:
            around, assemblies = self._outside.around, (*self._outside.assemblies, *assemblies)
        if around is None and not assemblies:
            return reference
        identity = (id(reference), id(around), *(id(assembly) for assembly in assemblies))
        return self._places.setdefault(identity, Place(reference, assemblies, around))

    def participant(self, reference: Any) -> Assembly:
        """An instance for a reference: a class, an instance or a builder.

        Raises:
            ConfigurationError: It is no assembly, or has another runtime than the rest.
        """
        if isinstance(reference, type) and issubclass(reference, Assembly):
            assembly = reference()
        elif not isinstance(reference, Assembly) and callable(getattr(reference, "build", None)):
            assembly = reference.build()
        else:
            assembly = reference
        if not isinstance(assembly, Assembly):
            raise ConfigurationError(
                "a participant must be an Agent, Workflow, Swarm or Graph, or a class of those, "
                f"not {type(reference).__name__}"
            )
        own = assembly.__dict__.get("_runtime")
        if self.runtime is not None and own is not None and own is not self.runtime:
            raise ConfigurationError(
                f"{assembly.assembly_id} has a runtime of its own, but all participants work with that of "
                "the assembly that is asked; give the runtime to that one"
            )
        assembly._check()
        return assembly

    @contextmanager
    def _inside(self, reference: Any, assembly: Assembly) -> Iterator[None]:
        if any(outer.reference is reference for outer in self._within):
            raise ConfigurationError(f"{assembly.assembly_id} contains itself")
        _native.check_nesting(assembly.assembly_kind, assembly.assembly_id, len(self._within))
        self._within.append(_Around(reference, assembly))
        try:
            yield
        finally:
            self._within.pop()


def check_assembly(assembly: Assembly) -> str | None:
    """Checks an assembly and all that it contains.

    Returns:
        The flowchart of a graph.

    Raises:
        ConfigurationError: Its members or routes cannot work.
        ValueError: A limit or policy is impossible.
    """
    return _native.check_assembly(HostTable().describe(assembly))
