"""Where a participant stands in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..instructions import gives_locals

if TYPE_CHECKING:
    from ..part import Part
    from .base import Assembly


class Place:
    """A participant within assemblies that have something for it, in the table of the run.

    Attributes:
        reference: The participant, as it was declared.
        assemblies: The assemblies around it, the outermost first.
        around: The part of the agent whose tool the outermost of them is; None for others.
    """

    __slots__ = ("around", "assemblies", "reference")

    def __init__(
        self, reference: Any, assemblies: tuple[Assembly, ...], around: Part | None = None
    ) -> None:
        self.reference = reference
        self.assemblies = assemblies
        self.around = around


def within(assembly: Assembly, place: Place | None) -> Place | None:
    """Where the participants of an assembly stand; None when nothing around them has anything for them."""
    if not gives_locals(assembly):
        return place
    if place is None:
        return Place(assembly, (assembly,))
    return Place(assembly, (*place.assemblies, assembly), place.around)
