"""Answers questions of the engine that come beside runs."""

from __future__ import annotations

import itertools
import os
import select
import threading
from collections.abc import Callable
from typing import Any

from .. import _native
from ..errors import describe_exception

# The engine knows the application's authorizers and gateways by these; no number is used again.
keys = itertools.count(1)


class Answering:
    """A thread that waits for questions, and one more for each that came."""

    __slots__ = ("_code", "_lock", "_stop", "_thread", "_users", "questions")

    def __init__(self, code: Callable[[dict[str, Any]], Any]) -> None:
        self._code = code
        self._lock = threading.Lock()
        self._stop: int | None = None
        self._thread: threading.Thread | None = None
        self._users: set[int] = set()
        self.questions = _native.Questions()
        self.questions.close()

    def start(self, user: object) -> None:
        """Answers for `user` too, until it stops."""
        with self._lock:
            self._users.add(id(user))
            self.questions.reopen()
            if self._thread is not None and self._thread.is_alive():
                return
            stopped, self._stop = os.pipe()
            self._thread = threading.Thread(
                target=self._wait, args=(stopped,), name="little-ghost-network", daemon=True
            )
            self._thread.start()

    def stop(self, user: object) -> None:
        """Answers until nobody uses it any more. Whoever asks then fails, and does not wait for ever."""
        with self._lock:
            self._users.discard(id(user))
            if self._users:
                return
            self.questions.close()
            stop, self._stop = self._stop, None
            if stop is not None:
                os.close(stop)
            self._thread = None

    def _wait(self, stopped: int) -> None:
        poll = select.poll()
        poll.register(self.questions.fd, select.POLLIN)
        poll.register(stopped, select.POLLIN)
        try:
            while not any(found == stopped for found, _ in poll.poll()):
                for question in self.questions.drain() or ():
                    threading.Thread(target=self._answer, args=question, daemon=True).start()
        finally:
            os.close(stopped)

    def _answer(self, identifier: int, question: dict[str, Any]) -> None:
        try:
            self.questions.complete(identifier, self._code(question))
        except Exception as error:
            # The exception stays here, so that the engine gets none of the numbers of others.
            self.questions.fail(identifier, describe_exception(error, 0))
