"""Where fresh facts about models come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _native

Records = Mapping[str, Mapping[str, Any]]
"""Facts by `connection:model-id`."""


class CatalogSource(ABC):
    """A source of facts about models, for `ModelResolver.refresh`.

    Attributes:
        name: What the provenance of its facts says.
        merge_strategies: Attributes that do not replace older values: `"union"` adds the entries of lists.
    """

    name: str = "application"
    merge_strategies: Mapping[str, str] = {}

    @abstractmethod
    def refresh(self, target: str | None) -> Records:
        """The facts of all models, or at least of `target`.

        Raises:
            Exception: Whatever went wrong; what is known then stays as it is.
        """


class ModelsDevSource(CatalogSource):
    """The public catalog models.dev."""

    name = "models.dev"

    def __init__(self, adapters: Mapping[str, str], *, base_url: str | None = None) -> None:
        """A source for connections.

        Args:
            adapters: The adapter of each connection.
            base_url: A mirror.
        """
        self._adapters = dict(adapters)
        self._base_url = base_url

    def refresh(self, target: str | None) -> Records:
        """See `CatalogSource`."""
        job = _native.Job.models_dev(list(self._adapters.items()), self._base_url, target)
        return answer(job)


@dataclass(frozen=True)
class Refreshed:
    """What a refresh did.

    Attributes:
        updated: Targets with fresh facts.
        errors: What went wrong with sources, whose facts stay as they were.
    """

    updated: tuple[str, ...]
    errors: tuple[Exception, ...]


def answer(job: _native.Job) -> Records:
    """What a job of the engine found, once it is there."""
    from ..pump import waiter

    waiter(job.fd)(None)
    records: Records = job.take()
    return records
