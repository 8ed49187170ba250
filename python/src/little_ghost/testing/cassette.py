"""Real exchanges in a file, recorded once and played ever after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from .. import _native
from .expectation import expect

CassetteMode: TypeAlias = Literal["once", "record", "replay"]


class Cassette:
    """Real exchanges in a file; see `cassette`.

    The file is JSON made to be read and compared. Request headers are not kept; credentials of the requests, texts
    given as `scrub`, and texts under keys such as `api_key` or `password` are replaced before anything is written. A
    secret that a model spells out over several events is not recognised.

    Playing is strict: a request must have a recorded method, path, query and body, and each exchange is played
    once. The host and the headers do not count, and nothing is ever sent.

    Attributes:
        path: The file.
    """

    __slots__ = ("_native", "path")

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: CassetteMode | None = None,
        scrub: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        """Opens the file.

        Args:
            path: The file; `.json` is added when it has no suffix.
            mode: `"once"` plays if the file exists and records otherwise; `"record"`; `"replay"`. By default what
                the environment's `LITTLE_GHOST_CASSETTES` says, or `"once"`.
            scrub: Texts that must never be written.
            ignore: JSON pointers to parts of the body that may differ, such as `"/metadata"`.

        Raises:
            ValueError: An unusable option.
            ConfigurationError: The file cannot be played.
        """
        file = Path(path)
        self.path = file if file.suffix else file.with_suffix(".json")
        self._native = _native.Cassette(
            {
                "path": str(self.path),
                "mode": mode or os.environ.get("LITTLE_GHOST_CASSETTES") or "once",
                "scrub": [scrub] if isinstance(scrub, str) else list(scrub),
                "ignore": [ignore] if isinstance(ignore, str) else list(ignore),
            }
        )

    @property
    def recording(self) -> bool:
        """Whether real exchanges are recorded."""
        return self._native.recording

    def finish(self) -> None:
        """Writes what was recorded, or checks that everything was played and nothing else was asked.

        Nothing is written when the service could not be reached.

        Raises:
            UnmetExpectation: A request was not recorded, or an exchange was never asked for.
            ConfigurationError: The file cannot be written.
        """
        expect(self._native.finish)

    def _over(self, runtime: _native.Runtime) -> _native.Runtime:
        return runtime.with_cassette(self._native)

    def __repr__(self) -> str:
        """Names the file and what is done with it."""
        native = getattr(self, "_native", None)
        # A debugger or pytest may look at one whose options were refused.
        doing = "unopened" if native is None else "recording" if native.recording else "playing"
        return f"<Cassette {str(getattr(self, 'path', ''))!r} {doing}>"
