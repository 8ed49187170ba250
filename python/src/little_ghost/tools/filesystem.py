"""Tools for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..errors import ConfigurationError
from .sandbox_tool import SandboxTool

if TYPE_CHECKING:
    from .base import Tool
    from .binding import Binding


class ReadFile(SandboxTool):
    """Reads one UTF-8 text file."""

    name = "read_file"


class ListFiles(SandboxTool):
    """Lists one directory."""

    name = "list_files"


class WriteFile(SandboxTool):
    """Writes one UTF-8 text file, in a directory that exists."""

    name = "write_file"


class ReplaceInFile(SandboxTool):
    """Replaces a text that a file has exactly once."""

    name = "replace_in_file"


class Filesystem:
    """Lets a model read, list, write and replace in files, through the sandbox of its run.

        class EditorAgent(Agent):
            tools = [Filesystem]

    Where the sandbox can write nothing, the model can only read and list. What a path may reach, and how much, the
    sandbox decides.
    """

    _reading: ClassVar[tuple[type[Tool], ...]] = (ReadFile, ListFiles)
    _writing: ClassVar[tuple[type[Tool], ...]] = (WriteFile, ReplaceInFile)

    @classmethod
    def tools(cls, binding: Binding) -> list[type[Tool]]:
        """The tools for the sandbox of a binding.

        Raises:
            ConfigurationError: It has none.
        """
        sandbox = binding.sandbox
        if sandbox is None:
            raise ConfigurationError(f"{cls.__name__} needs a sandbox; give the binding one")
        return [*cls._reading, *cls._writing] if sandbox.writable else list(cls._reading)


class ExclusiveReadFile(ReadFile):
    """The same, one call at a time."""

    name = "read_file"
    exclusive = True


class ExclusiveListFiles(ListFiles):
    """The same, one call at a time."""

    name = "list_files"
    exclusive = True


class ExclusiveWriteFile(WriteFile):
    """The same, one call at a time."""

    name = "write_file"
    exclusive = True


class ExclusiveReplaceInFile(ReplaceInFile):
    """The same, one call at a time."""

    name = "replace_in_file"
    exclusive = True


class ExclusiveFilesystem(Filesystem):
    """The same tools, which never overlap with each other or with other exclusive tools of a run.

    For files that several calls change. Reading waits too, so that it never sees half a change.
    """

    _reading = (ExclusiveReadFile, ExclusiveListFiles)
    _writing = (ExclusiveWriteFile, ExclusiveReplaceInFile)
