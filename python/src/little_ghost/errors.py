"""Every exception class of LittleGhost.

The tree is the same in Ruby, Python and Rust. An invalid argument is a plain `ValueError`,
and an exception that your own code raised reaches you as the very object it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Failure: TypeAlias = tuple[str, int, str, str]
"""An exception as it crosses into the engine: kind, id in the host's table, class name, message."""


class Error(Exception):
    """Any failure that has no more specific class, and the root of all others.

    Attributes:
        data: Structured facts about the failure, when there are any.
    """

    data: Any = None


class AbstractMethodError(Error):
    """An abstract framework method has no concrete implementation."""


class ConfigurationError(Error):
    """Invalid framework or application configuration."""


class AdapterLoadError(ConfigurationError):
    """A configured provider adapter cannot be constructed."""


class CredentialError(ConfigurationError):
    """No usable credentials for a provider."""


class SandboxConfigurationError(ConfigurationError):
    """Sandbox set-up failed before model-controlled work started."""


class CapabilityError(SandboxConfigurationError):
    """A backend cannot enforce a requested sandbox capability."""


class DependencyError(SandboxConfigurationError):
    """An explicitly selected sandbox dependency is unavailable."""


class PolicyError(SandboxConfigurationError):
    """A sandbox policy contradicts itself."""


class UnsupportedPlatformError(SandboxConfigurationError):
    """A sandbox backend does not support this operating system."""


class InvocationError(Error):
    """An invocation payload or operation is invalid."""


class AgentInterjectionError(InvocationError):
    """An active run cannot accept an interjection."""


class UnsupportedInputError(InvocationError):
    """An invocation contains an input form that the model does not take."""


class CancelledError(Error):
    """Cancellation stopped the operation.

    Not `asyncio.CancelledError`, which stays what it is: the cancellation of a task.
    """


class DeadlineExceededError(Error):
    """The operation reached its deadline."""


class CleanupError(Error):
    """One or more managed resources failed to close."""


class ToolError(Error):
    """An expected failure of a tool.

    Raise it from a tool when the model can do something about the failure. The model reads the
    message, so it must be safe to disclose.
    """


class ProviderError(Error):
    """A provider request, response or protocol failure.

    Attributes:
        status: HTTP status, when a response was received.
        body: The first 4,096 bytes of the response body, when there was one.
        code: The provider's own error code, when it gave one.
    """

    status: int | None = None
    body: str | None = None
    code: str | None = None


class HTTPError(ProviderError):
    """A bounded HTTP or network failure of a provider connection."""

    def __init__(
        self, message: str = "", *, status: int | None = None, body: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class ContextWindowOverflowError(ProviderError):
    """The provider says that the request exceeds the context window."""


class ProtocolError(ProviderError):
    """A provider violated the expected protocol."""


class MalformedToolCallError(ProtocolError):
    """The model returned an invalid tool call."""


class OutputLimitError(ProtocolError):
    """A generation limit stopped the agent before it was done."""


class StructuredResultError(ProtocolError):
    """A structured result is absent, invalid or too large."""

    @property
    def schema_name(self) -> str | None:
        """Name of the declared result."""
        return (self.data or {}).get("schema_name")

    @property
    def validation_errors(self) -> tuple[str, ...]:
        """What the check found, each starting with a path such as `$.name`."""
        return tuple((self.data or {}).get("validation_errors", ()))


class ToolLoopError(ProtocolError):
    """Identical tool calls reached the termination limit."""


class AssemblyError(Error):
    """A failure while coordinating assemblies."""


class AssemblyLimitError(AssemblyError):
    """An assembly exceeded its execution bound."""


class AssemblyRoutingError(AssemblyError):
    """An assembly cannot choose one valid next participant."""


class AssemblyStepTimeoutError(AssemblyError):
    """One assembly step exceeded its local timeout."""


class PromptTemplateError(Error):
    """A prompt template could not be located or rendered."""


class InvalidPromptTemplateError(PromptTemplateError):
    """Unsafe template name, escaped root, cycle or excessive recursion."""


class MissingPromptLocalError(PromptTemplateError):
    """A template references a missing local."""


class MissingPromptTemplateError(PromptTemplateError):
    """No configured root contains the requested template."""


def _classes() -> dict[str, type[Exception]]:
    found: dict[str, type[Exception]] = {
        name: value
        for name, value in globals().items()
        if isinstance(value, type) and issubclass(value, Error)
    }
    found["ArgumentError"] = ValueError
    # An exception of the host that the host does not know any more.
    found["HostError"] = Error
    return found


_CLASSES = _classes()


def error_class(kind: str) -> type[Exception]:
    """The class for one of the engine's own error names."""
    return _CLASSES.get(kind, Error)


def error_kind(error: BaseException) -> str:
    """The engine's name for an exception: of its nearest class here, or `HostError`."""
    for candidate in type(error).__mro__:
        if _CLASSES.get(candidate.__name__) is candidate and candidate is not ValueError:
            return candidate.__name__
    return "HostError"


def describe_exception(error: BaseException, identifier: int) -> Failure:
    """An exception as the engine takes it: kind, id in the host's table, class name, message."""
    try:
        message = str(error)
    except Exception:
        message = ""
    # A lone surrogate, as in an undecodable file name, has no place in Rust's text.
    message = message.encode("utf-8", "replace").decode("utf-8")
    return error_kind(error), identifier, type(error).__name__, message


def fail_call(native: Any, call: int, failure: Failure, error: BaseException) -> None:
    """Answers a call of the engine with an exception that user code raised.

    Args:
        native: The run.
        call: The call.
        failure: The exception as `describe_exception` tells it.
        error: The exception.
    """
    if isinstance(error, HTTPError):
        status = (
            error.status if isinstance(error.status, int) and 100 <= error.status <= 999 else None
        )
        body = (
            error.body.encode("utf-8", "replace").decode() if isinstance(error.body, str) else None
        )
        native.fail_http(call, failure, status, body)
    else:
        native.fail(call, failure)


def error_from_value(
    value: dict[str, Any], original: Callable[[int], BaseException | None] | None = None
) -> BaseException:
    """The exception for an error as the engine describes it.

    Args:
        value: `kind`, `message` and what else is known.
        original: Finds the exception that user code raised, by its id.

    Returns:
        That very exception when it is known, else a new one.
    """
    host_id = value.get("host_id")
    if host_id is not None and original is not None:
        known = original(host_id)
        if known is not None:
            return known
    message = value["message"]
    if value["kind"] == "HostError":
        if value.get("host_class") == "KeyError":
            return KeyError(message)
        message = f"{value.get('host_class')}: {message}"
    error = error_class(value["kind"])(message)
    for name in ("status", "body", "code", "data"):
        if value.get(name) is not None:
            setattr(error, name, value[name])
    return error
