"""What `with` and `async with` do."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Closing:
    """Closed by the end of `with`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def close(self) -> None:
            """Closes it."""

    def __enter__(self) -> Self:
        """The object itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()


class Closable(Closing):
    """Closed by the end of `with`, or of `async with`."""

    __slots__ = ()

    if TYPE_CHECKING:

        async def close_async(self) -> None:
            """`close` for asyncio."""

    async def __aenter__(self) -> Self:
        """The object itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        await self.close_async()


class Managed(Closable):
    """Opened by the beginning of `with`, or of `async with`, and closed by its end."""

    __slots__ = ()

    if TYPE_CHECKING:

        def open(self) -> Self:
            """Opens it."""

        async def open_async(self) -> Self:
            """`open` for asyncio."""

    def __enter__(self) -> Self:
        """Opens it."""
        return self.open()

    async def __aenter__(self) -> Self:
        """Opens it."""
        return await self.open_async()
