"""From roles, targets and mappings to models."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import AdapterLoadError, ConfigurationError, CredentialError
from .catalog import CatalogSource, ModelsDevSource, Refreshed
from .details import ModelDetails
from .model import Model
from .parts import has_part
from .resolved import AdaptedModel, ModelConnection, ResolvedModel
from .service_lists import SERVICE_LISTS

if TYPE_CHECKING:
    from ..declaration import ModelChoice
    from ..runtime import Runtime


class ModelResolver:
    """Turns what an agent selects into a model. A runtime has one: `runtime.models`.

    model = runtime.models.resolve("support")
    model.target                  # "primary:openai/gpt-5.6-luna"
    model.details.context_window  # 1050000
    """

    __slots__ = ("_runtime",)

    def __init__(self, runtime: Runtime) -> None:
        """Of that runtime."""
        self._runtime = runtime

    @property
    def default_model(self) -> str:
        """The role or target of agents that select nothing."""
        return self._runtime._native.default_model

    @property
    def adapters(self) -> dict[str, str]:
        """The adapter of each connection, those of the environment included."""
        return dict(self._runtime._native.connections)

    def resolve(
        self, selection: ModelChoice | None, *, profiles: Mapping[str, Any] | None = None
    ) -> Model:
        """The model for a selection.

        Args:
            selection: A role, a `connection:model-id`, a dict with `provider`, `model` and
                settings, or None for the default. A `Model` is returned as it is.
            profiles: Profiles that go over the configured ones, for each prefix of a role.

        Raises:
            ConfigurationError: The selection names what is not there.
            CredentialError: `provider_credentials` gave no dict.
        """
        if isinstance(selection, Model):
            return selection
        if hasattr(selection, "_to_engine"):
            raise ConfigurationError(f"{selection!r} is a model of the test kit, not a selection")
        chosen = dict(selection) if isinstance(selection, Mapping) else selection
        described = self._runtime._native.describe(chosen, dict(profiles or {}))
        name, adapter = described["connection"], described["adapter"]
        make = self._runtime.settings.provider_adapters.get(adapter)
        options = self._credentials(name, adapter)
        configured = self._runtime._providers.get(name) or {}
        if make is None:
            from ..providers.parts import split

            given = {key: value for key, value in configured.items() if has_part(key)}
            plain, parts = split({**given, **options})
            return ResolvedModel(self._runtime._native, described, plain, parts)
        connection = ModelConnection(
            name,
            described["model_id"],
            {
                **{key: value for key, value in configured.items() if key != "adapter"},
                **options,
                **described["request"],
            },
            described["role"],
            described["settings"],
            ModelDetails.from_dict(described["details"]),
        )
        try:
            model = make(connection)
        except ImportError as problem:
            raise AdapterLoadError(
                f"adapter {adapter} of connection {name} cannot be loaded: {problem}"
            ) from problem
        if not isinstance(model, Model):
            raise AdapterLoadError(
                f"adapter {adapter} of connection {name} must make a Model, "
                f"not {type(model).__name__}"
            )
        return self._adapted(described, model)

    def _adapted(self, described: dict[str, Any], model: Model) -> Model:
        from ..providers import Provider

        if isinstance(model, Provider):
            # The engine runs it as it runs connections of its own.
            return model._selected(self._runtime._native, described)
        return AdaptedModel(described, model)

    def details(self, target: str) -> ModelDetails:
        """What is known about a `connection:model-id`. Needs no credentials.

        Raises:
            ConfigurationError: The target is incomplete.
        """
        return ModelDetails.from_dict(self._runtime._native.details(target))

    def refresh(self, target: str | None = None) -> Refreshed:
        """Fetches fresh facts about one model or all. Nothing else in the library does.

        The sources are those of `catalog_sources`, or else models.dev and then, for each
        connection, the list that its service keeps itself: OpenRouter, Anthropic, Gemini, Bedrock.
        Blocks; use `asyncio.to_thread` on an event loop.
        """
        catalog = self._runtime._native.catalog
        updated: dict[str, None] = {}
        errors: list[Exception] = []
        for source in self._runtime.settings.catalog_sources or self._usual_sources():
            try:
                records = {name: _dated(facts) for name, facts in source.refresh(target).items()}
                strategies = dict(source.merge_strategies)
                updated.update(dict.fromkeys(catalog.apply(source.name, records, strategies)))
            except Exception as error:
                errors.append(error)
        return Refreshed(tuple(updated), tuple(errors))

    def _usual_sources(self) -> list[CatalogSource]:
        adapters = self.adapters
        sources: list[CatalogSource] = [ModelsDevSource(adapters)]
        for name, adapter in adapters.items():
            if adapter in SERVICE_LISTS:
                options = functools.partial(self._options, name, adapter)
                sources.append(SERVICE_LISTS[adapter](name, options))
        return sources

    def _options(self, connection: str, adapter: str) -> dict[str, Any]:
        configured = self._runtime._providers.get(connection) or {}
        return {**configured, **self._credentials(connection, adapter)}

    def _credentials(self, connection: str, adapter: str) -> Mapping[str, Any]:
        give = self._runtime.settings.provider_credentials
        if give is None:
            return {}
        options = give(connection, adapter)
        if isinstance(options, Mapping):
            return options
        raise CredentialError(
            f"provider_credentials must give a dict of options for connection {connection}, "
            f"not {type(options).__name__}"
        )

    def _declare(self, selection: Any) -> Any:
        """The selection as a run uses it: untouched where the engine can resolve it."""
        if self._runtime._is_plain or hasattr(selection, "_to_engine"):
            return selection
        return self.resolve(selection)


def _dated(facts: Mapping[str, Any]) -> dict[str, Any]:
    day = facts.get("observed_at") or datetime.date.today()
    return {**facts, "observed_at": str(day)}
