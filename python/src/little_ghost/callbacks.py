"""Callbacks: user code at fixed points of a run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from .decision import Cancel, Replace, is_decision
from .errors import ConfigurationError

if TYPE_CHECKING:
    from .context import RunContext

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "_little_ghost_callbacks"


class Declaration:
    """A decorator that declares when a method or function is called.

        class SupportAgent(Agent):
            @before_tool
            def check(self, payload: BeforeTool, context: RunContext) -> Decision[None]:
                if payload.tool_use.name == "refund" and not context.state.get("verified"):
                    return Cancel("Verify the customer first.")
                return None

    The function takes what it needs: the payload, the `RunContext`, both or neither. It may be a
    coroutine function. It returns None to go on, `Replace(...)` or `Cancel(...)`; an exception fails the run.
    Callbacks run one after the other where the run is driven, those of parent classes first. An
    overridden method takes its parent's place, and one that is set to None is not called.

    A function that stands alone goes into an agent's `callbacks`.
    """

    def __init__(self, name: str, documentation: str) -> None:
        """One of the callbacks of this module."""
        self.name = name
        self.__doc__ = documentation

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(self, *, prepend: bool = False) -> Callable[[F], F]: ...

    def __call__(self, function: Any = None, *, prepend: bool = False) -> Any:
        """Declares the function.

        Args:
            function: The function; left out when there are options.
            prepend: Call it before those that are declared already.
        """

        def declare(function: Any) -> Any:
            written = getattr(function, "__func__", function)
            if not callable(written) or isinstance(written, type):
                raise ConfigurationError(f"@{self.name} takes a function, not {function!r}")
            setattr(written, _MARK, (*getattr(written, _MARK, ()), (self.name, prepend)))
            return function

        return declare if function is None else declare(function)

    def standing_alone(self, function: Callable[..., Any], prepend: bool) -> Callable[..., Any]:
        """The same work as a declared function of its own; `function` stays as it is."""
        if not callable(function):
            raise ConfigurationError(f"{self.name} takes a function, not {function!r}")
        own = functools.partial(function)
        setattr(own, _MARK, ((self.name, prepend),))
        return own

    def __repr__(self) -> str:
        """Names the callback."""
        return f"<callback {self.name}>"


before_invocation = Declaration(
    "before_invocation", "Before an invocation begins; see `BeforeInvocation`."
)
after_invocation = Declaration(
    "after_invocation", "When an invocation has its result; see `AfterInvocation`."
)
before_model = Declaration("before_model", "Before a request is sent; see `BeforeModel`.")
after_model = Declaration("after_model", "When a model has answered; see `AfterModel`.")
after_model_error = Declaration(
    "after_model_error", "When a model has failed; see `AfterModelError`."
)
before_tool = Declaration("before_tool", "Before a tool runs; see `BeforeTool`.")
after_tool = Declaration("after_tool", "When a tool call has its outcome; see `AfterTool`.")
after_initialize = Declaration(
    "after_initialize",
    "Once in each run, when its tools are made and before the prompt is; gets the `Binding`. "
    "It prepares what belongs to the run, and decides nothing.",
)


def is_callback(value: Any) -> bool:
    """Whether a function was declared by one of the decorators."""
    return bool(getattr(getattr(value, "__func__", value), _MARK, ()))


class CallbackChain:
    """The callbacks of one agent in one run, in the order of their calls."""

    __slots__ = ("_chains",)

    def __init__(
        self, agent: object | None = None, functions: Iterable[Callable[..., Any]] = ()
    ) -> None:
        """Collects the methods of the agent's classes, and `functions` after them."""
        self._chains: dict[str, list[tuple[Any, Sequence[str]]]] = {}
        for name, attribute, prepend in () if agent is None else declared_methods(type(agent)):
            function = getattr(agent, attribute)
            if function is not None:
                self._add(name, function, prepend)
        for function in functions:
            written = getattr(function, "__func__", function)
            for name, prepend in getattr(written, _MARK):
                self._add(name, function, prepend)

    def _add(self, name: str, function: Any, prepend: bool) -> None:
        chain = self._chains.setdefault(name, [])
        if any(known == function for known, _ in chain):
            return
        entry = (function, _wanted(function))
        if prepend:
            chain.insert(0, entry)
        else:
            chain.append(entry)

    @property
    def names(self) -> list[str]:
        """What the engine has to call for."""
        return [name for name in self._chains if name != "after_initialize"]

    def has(self, name: str) -> bool:
        """Whether there is a callback of that name."""
        return name in self._chains

    def run(
        self, name: str, payload: Any, context: RunContext
    ) -> Generator[Any, Any, dict[str, Any] | None]:
        """Runs a chain, and gives the answer for the engine.

        Args:
            name: Which.
            payload: What the first callback is told.
            context: The context of all of them.

        Yields:
            What each callback returned, awaitable or not.

        Raises:
            ConfigurationError: A callback returned what decides nothing.
        """
        subject = payload
        for function, wanted in self._chains.get(name, ()):
            offered = {"payload": subject, "context": context}
            decision = yield function(*[offered[parameter] for parameter in wanted])
            if isinstance(decision, Cancel) and name not in ("after_tool", "after_initialize"):
                return {"cancel": decision.reason}
            try:
                if isinstance(decision, Replace):
                    from .payload import replaced

                    subject = replaced(name, subject, decision.value)
                elif decision is not None:
                    raise TypeError(_undecided(decision))
            except TypeError as problem:
                raise ConfigurationError(f"{_named(function)}, {name}: {problem}") from None
        if subject is payload:
            return None
        from .payload import replacement

        return {"replace": replacement(name, subject)}


def _undecided(decision: Any) -> str:
    if is_decision(decision):
        return "it cannot cancel anything"
    if inspect.isgenerator(decision) or inspect.isasyncgen(decision):
        return "it yields; return Replace(...), Cancel(...) or None"
    return f"it returned {type(decision).__name__}; return Replace(...), Cancel(...) or None"


def declared_methods(cls: type) -> list[tuple[str, str, bool]]:
    """Callbacks that a class and its parents declare: name, attribute, and whether it is prepended."""
    known: list[tuple[str, str, bool]] | None = cls.__dict__.get("_callback_methods")
    if known is None:
        found: dict[tuple[str, str], bool] = {}
        for base in reversed(cls.__mro__):
            for attribute, value in base.__dict__.items():
                for name, prepend in getattr(getattr(value, "__func__", value), _MARK, ()):
                    found.setdefault((name, attribute), prepend)
        known = [(name, attribute, prepend) for (name, attribute), prepend in found.items()]
        type.__setattr__(cls, "_callback_methods", known)
    return known


def _wanted(function: Callable[..., Any]) -> Sequence[str]:
    """Which of payload and context each parameter takes."""
    wanted: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            context = parameter.name == "context" or _is_context(parameter.annotation)
            name = "context" if context else "payload"
            if name in wanted:
                if parameter.default is parameter.empty:
                    raise ConfigurationError(
                        f"{_named(function)}: a callback takes the payload and the context, "
                        f"and nothing for {parameter.name}"
                    )
                break
            wanted.append(name)
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise ConfigurationError(
                f"{_named(function)}: a callback's parameters are positional; "
                f"remove the star before {parameter.name}"
            )
    return wanted


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "RunContext"
    return getattr(annotation, "__name__", None) == "RunContext"


def _named(function: Any) -> str:
    function = getattr(function, "func", function)
    return getattr(function, "__qualname__", None) or repr(function)
