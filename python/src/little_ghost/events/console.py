"""Events as lines of JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .reporter import Event


class ConsoleListener:
    """Writes each event as one line of JSON, with secrets taken out."""

    def __init__(
        self, stream: TextIO | None = None, redactor: Callable[[Any], Any] | None = None
    ) -> None:
        """Made once; use it with `subscribe`, or see `log_to`.

        Args:
            stream: Where to; `sys.stderr`, as it is at each event, by default.
            redactor: A function that takes the secrets out; a `Redactor` by default.
        """
        from ..redaction import Redactor

        self._stream = stream
        self._redact: Callable[[Any], Any] = Redactor() if redactor is None else redactor

    def emit(self, event: Event) -> None:
        """Writes one event, in one piece."""
        import json

        line = json.dumps(self._redact(event.to_dict()), ensure_ascii=False)
        stream = sys.stderr if self._stream is None else self._stream
        stream.write(f"{line}\n")
        stream.flush()
