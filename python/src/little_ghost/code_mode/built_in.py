"""The languages of the library's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..jsonable import to_jsonable
from .engine import Engine

if TYPE_CHECKING:
    from .broker import Broker
    from .built_in_session import BuiltInSession


class BuiltInEngine(Engine):
    """An engine of the library's own.

    Agents name it, such as `code_mode=CodeMode(engine="javascript")`. It also works without one:

        engine, broker = PythonEngine(), Broker([help_center_lookup])
        with engine.open_session(broker, "native") as session:
            session.execute('tools.help_center_lookup(query="refunds")').value
    """

    @property
    def default_limits(self) -> Mapping[str, int]:
        """What a program may use unless the application says otherwise."""
        return _native.code_mode_limits(self.language)

    def instructions(self, catalog: Sequence[Mapping[str, Any]]) -> str:
        """What a model is told about programs and the tools of a `Broker.catalog`."""
        listed = [to_jsonable(tool) for tool in catalog]
        told: str = _native.code_mode_instructions(self._declaration(), listed)["instructions"]
        return told

    def open_session(
        self, broker: Broker, sandboxes: Any = None, limits: Mapping[str, Any] | None = None
    ) -> BuiltInSession:
        """Opens a session. Nothing runs before a program does.

        Args:
            broker: Makes the tool calls of programs.
            sandboxes: Makes the sandboxes that programs run in: a `SandboxFactory`, or what one is declared by;
                `"native"` by default.
            limits: Those of `default_limits` to change.

        Raises:
            ValueError: There is no such limit, or it is impossible.
        """
        from .built_in_session import BuiltInSession
        from .sandbox_factory import SandboxFactory

        factory = sandboxes if isinstance(sandboxes, SandboxFactory) else SandboxFactory(sandboxes)
        return BuiltInSession(self._declaration(), broker, factory, limits or {})

    def _declaration(self) -> dict[str, Any]:
        """As the engine takes it."""
        return {"name": self.language}


class JavascriptEngine(BuiltInEngine):
    """Programs in JavaScript, run by an interpreter that is a part of the library.

    They have Promises for tool calls, and neither files nor network.
    """

    language = "javascript"


class PythonEngine(BuiltInEngine):
    """Programs in Python, each in a fresh process."""

    language = "python"

    def __init__(self, interpreter: str | os.PathLike[str] | None = None) -> None:
        """Chooses the interpreter.

        Args:
            interpreter: Its path; by default the Python that runs this process.
        """
        # The one that runs this process, whatever PATH says.
        self._interpreter = os.fspath(interpreter or sys.executable or "")

    def _declaration(self) -> dict[str, Any]:
        chosen = {"interpreter": self._interpreter} if self._interpreter else {}
        return {**super()._declaration(), **chosen}


class RubyEngine(BuiltInEngine):
    """Programs in Ruby, each in a fresh process of the Ruby of the machine."""

    language = "ruby"

    def __init__(self, interpreter: str | os.PathLike[str] | None = None) -> None:
        """Chooses the interpreter.

        Args:
            interpreter: Its path; by default the `ruby` on the PATH.
        """
        self._interpreter = os.fspath(interpreter or "")

    def _declaration(self) -> dict[str, Any]:
        chosen = {"interpreter": self._interpreter} if self._interpreter else {}
        return {**super()._declaration(), **chosen}
