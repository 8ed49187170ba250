"""What agents run on: connections, models, and what belongs to every run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .configuration import Configuration, check_connections, model_settings
from .invocation_reader import checked_token, parse_invocation
from .lookup import LookupRoot
from .models.parts import has_parts
from .overlay import overlaid
from .prompt import PromptResolver
from .run import Run
from .session_store import MemoryStore, SessionStore
from .settings import USUAL_PROMPT_PATH
from .startup import Startup

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import CancellationToken
    from .assembly.base import Assembly
    from .hook import Hook
    from .invocation import Invocation, MessageLike
    from .models.resolver import ModelResolver
    from .settings import Settings


class Runtime:
    """Settings at work, shared by any number of runs.

    Most applications call `configure` once, or nothing at all, and share one runtime that is made for
    them. One of your own keeps a setup apart:

        staging = Runtime(
            providers={"local": {"adapter": "openai", "base_url": "http://127.0.0.1:8080/v1"}},
        )
        agent = SupportAgent(runtime=staging)

    Safe to use from any thread and event loop, and after a fork. There is nothing to close.

    Attributes:
        configuration: The settings that it was made of. Later changes to them do not reach it.
        root: The application's folder.
        hooks: The hooks, in the order of their calls.
        session_store: Where conversations are kept.
        prompts: Renders the templates in those folders.
    """

    __slots__ = (
        "_native",
        "_settings",
        "configuration",
        "hooks",
        "prompts",
        "root",
        "session_store",
    )

    def __init__(
        self, configuration: Configuration | None = None, **settings: Unpack[Settings]
    ) -> None:
        """Checks the settings and builds what they name.

        Args:
            configuration: The settings to start from; it stays open to changes.
            **settings: See `Settings`; they win over `configuration`.

        Raises:
            TypeError: There is no such setting.
            ConfigurationError: Something in the settings cannot work.
        """
        own = Configuration(**settings)
        if configuration is not None:
            own._values = {**configuration._values, **own._values}
        self._settings = own
        self.configuration = own if configuration is None else configuration
        with Startup(own) as startup:
            self.root: Path = own.root
            startup.phase = "model_resolver"
            self._native: _native.Runtime = check_connections(own._values)
            startup.phase = "session_store"
            self.session_store: SessionStore = own.session_store or MemoryStore()
            startup.phase = "prompts"
            self.prompts = PromptResolver(
                LookupRoot(self.root / path, self.root if path == USUAL_PROMPT_PATH else None)
                for path in own.prompt_paths
            )
            startup.phase = "agent_factory"
            self.hooks: tuple[Hook, ...] = tuple(
                hook() if isinstance(hook, type) else hook for hook in own.hooks
            )
        own._runtime = self

    @property
    def models(self) -> ModelResolver:
        """Turns what agents select into models, and knows facts about them."""
        from .models.resolver import ModelResolver

        return ModelResolver(self)

    @property
    def _providers(self) -> Mapping[str, Any]:
        """The connections that are configured, credentials included."""
        providers: Mapping[str, Any] | None = model_settings(self._settings._values).get(
            "providers"
        )
        return providers or {}

    @property
    def _is_plain(self) -> bool:
        """Whether the engine can make models by itself."""
        settings = self._settings
        return (
            settings.provider_credentials is None
            and not settings.provider_adapters
            and not any(has_parts(options) for options in (settings.providers or {}).values())
        )

    @property
    def prompt_paths(self) -> tuple[Path, ...]:
        """Folders of prompt templates, absolute, in the order of their precedence."""
        return tuple(root.path for root in self.prompts.paths)

    @property
    def service_name(self) -> str:
        """Name of the service in instrumentation."""
        return self._settings.service_name

    @property
    def settings(self) -> Configuration:
        """The settings as they were when this was made; they cannot be changed."""
        return self._settings

    def build(self, **overrides: Unpack[Settings]) -> Runtime:
        """Another runtime with some settings changed.

        Raises:
            TypeError: There is no such setting.
            ConfigurationError: Something in the settings cannot work.
        """
        return Runtime(self._settings, **overrides)

    def parse(
        self, payload: Invocation | MessageLike | Mapping[str, Any], **options: Any
    ) -> Invocation:
        """The request for a payload, of the class that `invocation` configures.

        Args:
            payload: A message, a dict with `message` and options of `RunOptions`, or an `Invocation`,
                which keeps its class.
            **options: See `RunOptions`; they win over what the payload says.

        Raises:
            TypeError: A value of a wrong type, or an unknown option.
            ValueError: An impossible value.
            InvocationError: The subclass of `Invocation` refuses it.
        """
        return parse_invocation(self._settings.invocation, payload, options)

    def build_run(
        self,
        payload: Invocation | MessageLike | Mapping[str, Any],
        *,
        agent: Assembly | type[Assembly],
        cancellation_token: CancellationToken | None = None,
        **options: Any,
    ) -> Run:
        """A run that has not begun; `Run.call` and its siblings begin it.

        Args:
            payload: As for `parse`.
            agent: Who answers, an agent or another assembly.
            cancellation_token: Cancels the run when it is cancelled.
            **options: See `RunOptions`.

        Raises:
            InvocationError: The message is blank, or the payload is refused.
            Exception: What a hook's `prepare_run` raised, after what it had registered was closed.
        """
        return self._new_run(payload, agent, options, cancellation_token)

    def _new_run(
        self,
        payload: Invocation | MessageLike | Mapping[str, Any],
        agent: Assembly | type[Assembly],
        options: dict[str, Any],
        cancellation_token: CancellationToken | None = None,
        *,
        agent_events: bool = False,
    ) -> Run:
        """`agent_events`: those of every agent come too, where the request does not say."""
        answering: Any = agent(runtime=self) if isinstance(agent, type) else agent  # type: ignore[call-arg]
        answering._check()
        token = checked_token(options.pop("cancellation_token", cancellation_token))
        invocation = self.parse(payload, **options)
        described = invocation.payload()
        if agent_events:
            described.setdefault("include_agent_events", True)
        native = _native.Run(
            overlaid(self._native), described, token or _native.CancellationToken()
        )
        run = Run(answering, invocation.identified(*native.identity), self, native)
        try:
            for hook in self.hooks:
                hook.prepare_run(run)
        except BaseException:
            with contextlib.suppress(Exception):
                run.close()
            raise
        return run

    def __repr__(self) -> str:
        """Names no setting: some are secret."""
        return f"<Runtime {self.service_name!r} at {id(self):#x}>"
