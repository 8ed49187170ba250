"""Waiting for work that the engine does outside of a run's loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pump import waiter

if TYPE_CHECKING:
    from ._native import Job
    from .context import RunContext


def answer(job: Job, context: RunContext | None = None) -> Any:
    """What the work came to. Waits without the GIL; a signal handler, such as Ctrl-C's, ends the work.

    Args:
        job: The work.
        context: Its cancellation and its deadline end the work too.
    """
    try:
        bound(job, context)
        waiter(job.fd)(None)
    except BaseException:
        # The traceback may keep the job for long.
        job.give_up()
        raise
    return job.take()


async def answer_async(job: Job, context: RunContext | None = None) -> Any:
    """`answer` for asyncio: the loop goes on, and cancelling the task ends the work."""
    import asyncio

    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        bound(job, context)
        loop.add_reader(job.fd, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(job.fd)
    except BaseException:
        job.give_up()
        raise
    return job.take()


def bound(job: Job, context: RunContext | None) -> None:
    """Has cancellation and deadline of a context end the work."""
    if context is not None:
        job.within(context.cancellation_token, context.deadline_at)
