"""Waking a task, in the moments that real runs hardly ever meet."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from little_ghost.supervision import Supervised
from little_ghost.waker import Waker


class FakeRun:
    """A descriptor with something behind it."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.fd = self.near.fileno()
        self.drains = 0

    def put(self) -> None:
        self.far.send(b"x")

    def drain(self, into: Any, _events: bool) -> None:
        self.drains += 1
        into.extend(bytes([byte]) for byte in self.near.recv(100))


@pytest.fixture
def run() -> Iterator[Any]:
    fake = FakeRun()
    yield fake
    fake.near.close()
    fake.far.close()


async def test_a_task_that_is_cancelled_just_when_something_came_loses_nothing(run: Any) -> None:
    waker = Waker(run, deliver=True)
    task = asyncio.ensure_future(waker.wait())
    await asyncio.sleep(0)
    run.put()
    waker._ready()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(waker.items) == [b"x"]
    waker.dispose()


async def test_what_comes_just_after_the_cancellation_is_not_lost_either(run: Any) -> None:
    waker = Waker(run, deliver=True)
    task = asyncio.ensure_future(waker.wait())
    await asyncio.sleep(0)
    task.cancel()
    run.put()
    waker._ready()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(waker.items) == [b"x"]
    waker.dispose()


async def test_nothing_is_drained_while_nobody_waits(run: Any) -> None:
    waker = Waker(run, deliver=True)
    run.put()
    await waker.wait()
    assert run.drains == 1
    run.put()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert run.drains == 1
    await waker.wait()
    assert run.drains == 2
    waker.dispose()


def test_a_waker_outlives_its_loop(run: Any) -> None:
    async def make() -> Waker:
        waker = Waker(run, deliver=True)
        run.put()
        await waker.wait()
        return waker

    waker = asyncio.run(make())
    waker.dispose()
    waker.dispose()


async def test_another_loop_is_refused(run: Any) -> None:
    waker = Waker(run, deliver=True)

    def elsewhere() -> None:
        with pytest.raises(RuntimeError, match="another event loop"):
            asyncio.run(waker.wait())

    await asyncio.to_thread(elsewhere)


async def test_withdrawing_what_is_already_done(run: Any) -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(0)
            seen.append("went on")
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            seen.append("told")
            raise

    supervised = Supervised(work())

    async def outer() -> None:
        asyncio.get_running_loop().call_soon(supervised.withdraw)
        await supervised

    with pytest.raises(asyncio.CancelledError):
        await outer()
    assert seen == ["told"]


async def test_user_code_may_survive_its_withdrawal() -> None:
    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "survived"

    supervised = Supervised(work())
    asyncio.get_running_loop().call_soon(supervised.withdraw)
    assert await supervised == "survived"
