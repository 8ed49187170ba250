"""Which content of requests may get into telemetry, and in which form."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _native
from .jsonable import to_jsonable

_KINDS = ("input", "output", "exception", "tool_definitions")
_UNSERIALIZABLE = '"[unserializable]"'


class ContentCapture:
    """Lets the content of requests and answers into telemetry: redacted, scrubbed and bounded.

        policy = ContentCapture(enabled=True, max_bytes=16_384, redactions=[os.environ["API_TOKEN"]])

    Nothing is captured before an application installs an enabled policy. Captured content is what users
    and models wrote: redaction and a scrubber cannot recognise everything that is sensitive in it.
    """

    __slots__ = ("_native", "_scrubber", "enabled")

    def __init__(
        self,
        *,
        enabled: bool = False,
        max_bytes: int | None = None,
        scrubber: Callable[[str, Any], Any] | None = None,
        redactions: Iterable[str] = (),
    ) -> None:
        """Makes a policy.

        Args:
            enabled: Whether anything is captured.
            max_bytes: The size of each attribute, 64 or more; None is no bound.
            scrubber: Called with the kind of content and its redacted value; what it returns is redacted
                again.
            redactions: Secrets that are known; see `Redactor`.

        Raises:
            ValueError: The bound is below 64.
        """
        self.enabled = enabled
        self._scrubber = scrubber
        bound = None if max_bytes is None else max(max_bytes, 0)
        self._native = _native.ContentCapture(bound, list(redactions))

    @classmethod
    def disabled(cls) -> ContentCapture:
        """A policy that never captures anything."""
        return cls()

    def capture(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Attributes for those of the values that are there.

        Args:
            values: `input`, `output`, `exception` and `tool_definitions`; others are ignored.

        Returns:
            `diagnostic_input` and so on, as JSON. Images and documents are described by type and size. Empty
            for a disabled policy.
        """
        if not self.enabled:
            return {}
        return {
            f"diagnostic_{kind}": self._text(kind, values[kind])
            for kind in _KINDS
            if values.get(kind) is not None
        }

    def _text(self, kind: str, value: Any) -> str:
        # A value that cannot be written must not break the work that it tells about.
        try:
            plain = _plain(value)
            if self._scrubber is not None:
                plain = _plain(self._scrubber(kind, self._native.redact(plain)))
            return self._native.capture(kind, plain) or _UNSERIALIZABLE
        except Exception:
            return _UNSERIALIZABLE

    def __repr__(self) -> str:
        """Never shows the secrets that it knows."""
        return f"<ContentCapture {'enabled' if self.enabled else 'disabled'}>"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return {
            "type": type(value).__name__,
            "message": str(value),
            "stacktrace": "".join(traceback.format_exception(value)),
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    # Messages and blocks have a form of their own, in which media can be told from text.
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else to_jsonable(value)
