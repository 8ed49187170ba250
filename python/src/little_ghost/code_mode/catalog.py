"""Tools under the names of a language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from .. import _native
from ..jsonable import to_jsonable
from .broker import CONTROLS


class Catalog(Mapping[str, Mapping[str, Any]]):
    """Tools under the names that programs of a language call them by.

        catalog = Catalog(broker.catalog, lambda name: name.replace("-", "_"))
        catalog["look_up"]["canonical_name"]  # "look-up"

    Attributes:
        definitions: `name`, `canonical_name`, `description`, `input_schema` and `specification` of each, in the order
            of the tools.
    """

    __slots__ = ("_by_name", "definitions")

    def __init__(
        self,
        specifications: Iterable[Mapping[str, Any]],
        normalize: Callable[[str], str] = str,
        *,
        reserved: Iterable[str] = CONTROLS,
    ) -> None:
        """Names the tools.

        Args:
            specifications: Tools, as `Broker.catalog` has them.
            normalize: Makes a name of the language from a tool's.
            reserved: Names that no tool may have.

        Raises:
            ConfigurationError: A tool would have a reserved name, or that of another one.
        """
        listed = [to_jsonable(tool) for tool in specifications]
        names = [normalize(tool["name"]) for tool in listed]
        found = _native.code_mode_catalog(listed, names, list(reserved))
        self.definitions: tuple[Mapping[str, Any], ...] = tuple(map(MappingProxyType, found))
        self._by_name = {definition["name"]: definition for definition in self.definitions}

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """The definition of the tool that programs call by that name.

        Raises:
            KeyError: There is none.
        """
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the language."""
        return iter(self._by_name)

    def __len__(self) -> int:
        """How many tools there are."""
        return len(self._by_name)

    def __repr__(self) -> str:
        """Lists the names."""
        return f"<Catalog {', '.join(self)}>"
