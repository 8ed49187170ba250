"""What the engine learns of an agent when its run begins."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from .callbacks import CallbackChain
from .errors import ConfigurationError
from .instructions import call as call_with
from .instructions import render_prompt
from .result_schema import ResultSchema
from .session_calls import storable_state
from .subagent import check_subagents, describe_subagents
from .tools.binding import Binding
from .tools.registry import ToolRegistry

if TYPE_CHECKING:
    from .agent import Agent
    from .code_mode.code_mode import CodeMode
    from .context import RunContext
    from .declaration import ModelChoice
    from .part import Part
    from .run import Run
    from .tools.base import Tool


class Opening:
    """One agent made ready for one run, or for one part of it.

    Attributes:
        model: What answers, as it was selected.
        tools: The tools of the run by name.
        callbacks: The callbacks of the run.
    """

    __slots__ = ("_agent", "_part", "callbacks", "model", "tools")

    def __init__(self, part: Part) -> None:
        self._part = part
        self._agent: Any = part.agent
        self.model: Any = None
        self.tools: Mapping[str, Tool] = {}
        self.callbacks = CallbackChain()

    def steps(self, context: RunContext) -> Generator[Any, Any, dict[str, Any]]:
        """The answer for the engine, step by step.

        Args:
            context: What prompts and callbacks are given.

        Yields:
            What user code returned, awaitable or not.
        """
        agent, part = self._agent, self._part
        run = part.run
        if part.scope == 0 or part.premises is not run._premises:
            yield from part.premises.open()
        serve = getattr(agent, "_serve", None)
        if serve is not None:
            described: dict[str, Any] = serve(part)
            return described
        if part.scope == 0:
            for hook in run.runtime.hooks:
                yield hook.prepare_execution(run)
            run._open_session()
        if agent.assembly_kind != "agent":
            return {"assembly": part.describe(), "state": storable_state(run)}
        # Within the run, so that a mistake in them fails it and what was registered is closed.
        self.callbacks = CallbackChain(agent, agent.callbacks or ())
        model = self.model = choose_model(agent, part)
        binding = Binding(agent, run, run.runtime, model, premises=part.premises)
        yield from self._open_tools(binding)
        if self.callbacks.has("after_initialize"):
            yield from self.callbacks.run("after_initialize", binding, context)
        prompt = yield from render_prompt(agent, run, part, context)
        answer: dict[str, Any] = {
            "agent_id": agent.agent_id,
            "model": engine_model(model),
            "system_prompt": prompt,
            "tools": [tool._describe(part) for tool in self.tools.values()],
            "limits": limits(agent),
        }
        delegation = yield from self._subagents(context)
        if delegation is not None:
            answer["subagents"] = delegation
        if part.scope == 0:
            answer["state"] = storable_state(run)
        answer.update(features(agent))
        mode = code_mode_of(agent, run)
        if mode is not None:
            answer["code_mode"] = mode._to_engine()
        if self.callbacks.names:
            answer["callbacks"] = self.callbacks.names
        if not agent.capture_diagnostics:
            answer["capture_diagnostics"] = False
        return answer

    def _subagents(self, context: RunContext) -> Generator[Any, Any, dict[str, Any] | None]:
        declared = self._agent.subagents
        if not declared:
            return None
        if callable(declared):
            declared = (yield call_with(declared, context)) or ()
            problem = check_subagents(declared)
            if problem is not None:
                raise ConfigurationError(f"subagents of {type(self._agent).__name__} {problem}")
        return describe_subagents(self._part, declared)

    def _open_tools(self, binding: Binding) -> Generator[Any, Any, None]:
        declared = self._agent.tools or ()
        registry = ToolRegistry(binding=binding)
        try:
            if callable(declared):
                declared = (yield declared(binding)) or ()
            yield from registry.collect(list(declared))
        finally:
            # In any case: what a failed declaration left open is closed with the run.
            for tool in registry.owned:
                if callable(getattr(tool, "close", None) or getattr(tool, "aclose", None)):
                    self._part.register(tool)
        self.tools = registry.as_dict()


def features(agent: Agent) -> dict[str, Any]:
    """The built-in features that the agent declares."""
    found: dict[str, Any] = {}
    if agent.result is not None:
        found["result_schema"] = ResultSchema.of(agent.result).to_dict()
    if agent.context_management is not None:
        found["context_management"] = agent.context_management.to_dict()
    if agent.tool_loop is not None:
        found["tool_loop"] = agent.tool_loop.to_dict()
    return found


def code_mode_of(agent: Any, run: Run) -> CodeMode | None:
    """How the programs of an agent run; None without code mode."""
    declared = agent.code_mode
    if not declared:
        return None
    from .code_mode.code_mode import CodeMode

    own = CodeMode.of(declared)
    return None if own is None else own.over(CodeMode.of(run.runtime.settings.code_mode))


def choose_model(agent: Agent, part: Part) -> ModelChoice | None:
    """The model of one run, as it was declared or as its function chose it."""
    model = agent.model
    if callable(model):
        model = model(part.invocation) if _parameters(model) else model()
        if isinstance(model, type):
            raise ConfigurationError(
                f"model of {type(agent).__name__} gave the class {model.__name__}; give an instance"
            )
    if isinstance(model, Mapping):
        model = dict(model)
    runtime = part.run.runtime
    if runtime._is_plain:
        # The engine resolves it by itself.
        return model
    chosen: ModelChoice = runtime.models._declare(model)
    return chosen


def engine_model(model: Any) -> Any:
    """The model as the engine needs it."""
    to_engine = getattr(model, "_to_engine", None)
    return model if to_engine is None else to_engine()


def limits(agent: Agent) -> dict[str, Any]:
    """The limits that the agent declares."""
    found: dict[str, Any] = {
        name: getattr(agent, name)
        for name in ("max_turns", "max_tool_calls", "max_tool_result_tokens")
        if getattr(agent, name) is not None
    }
    if agent.model_settings:
        found["model_settings"] = dict(agent.model_settings)
    return found


def _parameters(function: Callable[..., Any]) -> int:
    return sum(
        parameter.kind is not parameter.VAR_KEYWORD
        for parameter in inspect.signature(function).parameters.values()
    )
