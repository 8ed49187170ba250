"""Child processes: streams, limits, ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from premises import unrestricted

from little_ghost import (
    CancellationToken,
    CancelledError,
    DeadlineExceededError,
    RunContext,
    ToolError,
)
from little_ghost.sandboxes import Unrestricted


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Unrestricted]:
    with unrestricted(tmp_path) as made:
        yield made


def gone(pid: int) -> bool:
    """Whether there is no such process any more, soon."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        threading.Event().wait(0.01)
    return False


def test_streams_are_duplex(sandbox: Unrestricted) -> None:
    with sandbox.start_program(["/usr/bin/sort"]) as session:
        assert session.is_alive() and session.pid > 0
        assert session.write("b\na\n") == 4
        session.close_write()
        status = session.wait(timeout=30)
        assert status.success and status.pid == session.pid and status.signal is None
        output = session.read(timeout=30)
        assert (output.stdout, output.stderr, output.eof) == (b"a\nb\n", b"", True)
        assert not session.is_alive()
    session.close()


async def test_streams_of_coroutines(sandbox: Unrestricted) -> None:
    async with await sandbox.start_program_async(["cat"]) as session:
        assert await session.is_alive_async()
        await session.write_async(b"hello")
        assert (await session.read_async(timeout=30)).stdout == b"hello"
        await session.close_write_async()
        assert (await session.wait_async(timeout=30)).code == 0


def test_nobody_reads_any_more(sandbox: Unrestricted) -> None:
    with sandbox.start_program(["true"]) as session:
        session.wait(timeout=30)
        with pytest.raises(BrokenPipeError):
            session.write(b"x" * 1_000_000)


def test_closing_ends_a_process_and_its_descendants(sandbox: Unrestricted) -> None:
    session = sandbox.start_program(["sh", "-c", "sleep 60 & echo $!; wait"])
    child = int(session.read(timeout=30).stdout)
    session.close()
    assert gone(child) and gone(session.pid)


def test_a_process_nobody_closed_ends_with_its_session(sandbox: Unrestricted) -> None:
    session = sandbox.start_program(["sleep", "60"])
    pid = session.pid
    del session
    assert gone(pid)


def test_a_wait_has_an_end(sandbox: Unrestricted) -> None:
    with sandbox.start_program(["sleep", "60"]) as session:
        with pytest.raises(ToolError):
            session.wait(timeout=0.05, terminate=False)
        assert session.is_alive()
        with pytest.raises(DeadlineExceededError):
            session.wait(context=RunContext(deadline_at=time.time() + 0.05), terminate=False)
        assert session.is_alive()
        token = CancellationToken()
        threading.Timer(0.05, token.cancel).start()
        with pytest.raises(CancelledError):
            session.wait(context=RunContext(cancellation_token=token))
        assert not session.is_alive()
        ended = session.terminate()
        assert ended is None or ended.signal == signal.SIGTERM


def test_output_over_the_limit_ends_a_process(sandbox: Unrestricted) -> None:
    with sandbox.start_program(["yes"], output_bytes=10_000) as session, pytest.raises(ToolError):
        while True:
            session.read(timeout=30)


def test_memory_over_the_limit_ends_a_process(sandbox: Unrestricted) -> None:
    hungry = "import time; kept = bytearray(200_000_000); time.sleep(60)"
    command = [sys.executable, "-c", hungry]
    session = sandbox.start_program(command, memory_bytes=50_000_000)
    with session, pytest.raises(ToolError, match="memory"):
        session.wait(timeout=60)


def test_programs_get_variables_and_a_place(sandbox: Unrestricted) -> None:
    os.environ["LITTLE_GHOST_TEST_SECRET"] = "secret"
    try:
        line = 'echo "$A $LITTLE_GHOST_TEST_SECRET $LITTLE_GHOST_WORKSPACE_ROOT"; pwd'
        (sandbox.workspace.root / "inner").mkdir()
        left = sandbox.execute(line, timeout=30, environment={"A": "b"}, cwd="inner")
    finally:
        del os.environ["LITTLE_GHOST_TEST_SECRET"]
    root = sandbox.workspace.root
    assert left.stdout == f"b  {root}\n{root / 'inner'}\n"


def test_executions_have_bounds(sandbox: Unrestricted) -> None:
    with pytest.raises(ToolError, match=r"0\.1 seconds"):
        sandbox.execute("sleep 60", timeout=0.1)
    left = sandbox.execute("kill -9 $$", timeout=30)
    assert left.exit_code is None and not left.success
    for unusable in ([], "true", [1]):
        with pytest.raises(ToolError):
            sandbox.execute_program(unusable, timeout=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour"):
        sandbox.execute_program(["true"], timeout=1, colour=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError):
        sandbox.execute_program(["true"], timeout=1, memory_bytes=0)


async def test_a_cancelled_task_ends_its_program(sandbox: Unrestricted) -> None:
    line = "echo $$ > pid; sleep 60"
    task = asyncio.create_task(sandbox.execute_async(line, timeout=60))
    file = sandbox.workspace.root / "pid"
    while not (file.exists() and file.read_text().strip()):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(int(file.read_text()))


def test_waiting_leaves_other_threads_alone(sandbox: Unrestricted) -> None:
    def answer() -> None:
        while not (sandbox.workspace.root / "asked").exists():
            threading.Event().wait(0.01)
        (sandbox.workspace.root / "answered").touch()

    thread = threading.Thread(target=answer)
    thread.start()
    line = "touch asked; while ! [ -e answered ]; do sleep 0.01; done"
    assert sandbox.execute(line, timeout=30).success
    thread.join()


INTERRUPTED = """
import os, signal, sys, threading
from little_ghost import Workspace
from little_ghost.sandboxes import Unrestricted

# Who runs the tests in the background has signals of the keyboard ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
with Workspace(sys.argv[1]) as workspace, Unrestricted(workspace) as sandbox:
    def interrupt():
        while not os.path.exists(sys.argv[1] + "/pid"):
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        sandbox.execute("echo $$ > .pid; mv .pid pid; exec sleep 60", timeout=60)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_ends_a_program(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (finished.stdout, finished.stderr) == ("interrupted\n", "")
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_process_is_written_text_and_bytes_only(sandbox: Unrestricted) -> None:
    with sandbox.start_program(["/bin/cat"]) as session:
        number: str = 3  # type: ignore[assignment]
        with pytest.raises(TypeError, match="a process reads text or bytes, not int"):
            session.write(number)
        session.write(b"b")
        session.close_write()
        session.wait(timeout=5)
        assert session.read().stdout == b"b"


def test_a_directory_that_is_missing_is_named(sandbox: Unrestricted) -> None:
    with pytest.raises(Exception, match="the directory to start in does not exist"):
        sandbox.execute_program(["/bin/echo"], timeout=5, cwd="nowhere")
