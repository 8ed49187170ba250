"""Frames between this process and a program: four bytes of length, the highest first, and that much JSON.

    protocol.write(process.stdin, {"type": "call", "name": "add"})
    while (frame := protocol.read(process.stdout)) is not None:
        ...

Frames that are too long or no JSON raise `ProtocolError`, those that are too long before their bytes arrive.
"""

from __future__ import annotations

from typing import Any, Protocol

from .. import _native
from ..errors import ProtocolError
from ..jsonable import to_jsonable

MAX_FRAME_BYTES = _native.MAX_FRAME_BYTES
"""The longest JSON of a frame, in bytes."""

_HEADER_BYTES = 4


class Reader(Protocol):
    """A file that bytes come from."""

    def read(self, size: int, /) -> bytes | None:
        """At most so many bytes; none at the end."""


class Writer(Protocol):
    """A file that bytes go to."""

    def write(self, data: bytes, /) -> object:
        """Writes all of them."""

    def flush(self) -> object:
        """Has them leave."""


def dump(value: Any) -> bytes:
    """One frame with a value.

    Raises:
        ProtocolError: It is too long.
        TypeError, ValueError: JSON cannot express it.
    """
    return _native.code_mode_dump(to_jsonable(value))


def extract(buffer: bytearray, default: Any = None) -> Any:
    """Takes the first frame off a buffer.

    Args:
        buffer: What arrived; the frame is removed.
        default: What is returned while bytes are missing.

    Raises:
        ProtocolError: It is too long, or no JSON.
    """
    found = _native.code_mode_extract(bytes(buffer))
    if found is None:
        return default
    value, length = found
    del buffer[:length]
    return value


def read(file: Reader, default: Any = None) -> Any:
    """Reads one frame, waiting for it.

    Args:
        file: A binary file, buffered or not.
        default: What is returned at the end of the file.

    Raises:
        ProtocolError: It is too long, no JSON, or cut off.
    """
    header = _exactly(file, _HEADER_BYTES)
    if not header:
        return default
    length = int.from_bytes(header, "big")
    if len(header) < _HEADER_BYTES:
        raise ProtocolError("a frame ends in its length")
    if length > MAX_FRAME_BYTES:
        raise ProtocolError(f"a frame of {length} bytes is longer than {MAX_FRAME_BYTES}")
    payload = _exactly(file, length)
    if len(payload) < length:
        raise ProtocolError(f"a frame ends after {len(payload)} of {length} bytes")
    return extract(bytearray(header + payload))


def write(file: Writer, value: Any) -> None:
    """Writes one frame with a value, and flushes.

    Args:
        file: A binary file.
        value: The value.

    Raises:
        ProtocolError: It is too long.
        TypeError, ValueError: JSON cannot express it.
    """
    file.write(dump(value))
    file.flush()


def _exactly(file: Reader, size: int) -> bytes:
    """So many bytes; fewer at the end of the file."""
    found = bytearray()
    while len(found) < size:
        more = file.read(size - len(found))
        if not more:
            break
        found += more
    return bytes(found)
