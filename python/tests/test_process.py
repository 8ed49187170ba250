"""Signals, forks, other processes, and the end of the interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from program import run, start
from scripted import ENDLESS, SILENT, says

SOURCE = Path(__file__).parent.parent / "src"
KINDS = {
    "ask": 'agent.ask("x")',
    "stream": 'list(agent.stream("x"))',
    "ask_async": 'asyncio.run(agent.ask_async("x"))',
    "stream_async": "asyncio.run(consume())",
}
CONSUME = """
import asyncio, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
async def consume():
    async for event in agent.stream_async("x"):
        pass
"""


@pytest.mark.parametrize("answer", [SILENT, ENDLESS])
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_is_a_keyboard_interrupt_at_once(scenario: Any, kind: str, answer: Any) -> None:
    provider = scenario(answer)
    code = f"""{CONSUME}
try:
    {KINDS[kind]}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
"""
    process = start(code, provider.base_url)
    provider.wait(requests=1)
    begun = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "interrupted\n"
    assert time.perf_counter() - begun < 1
    # The connection is closed although the process lives on.
    provider.wait(disconnects=1)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (0, "")


def test_a_signal_handler_runs_while_a_run_waits(scenario: Any) -> None:
    provider = scenario({"chat": {"text": ["a", {"wait_for": "go"}, "b"]}})
    code = """
    import signal
    signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
    print(agent.ask("x").response)
    """
    process = start(code, provider.base_url)
    provider.wait(requests=1)
    process.send_signal(signal.SIGUSR1)
    assert process.stdout is not None
    assert process.stdout.readline() == "handled\n"
    provider.signal("go")
    out, err = process.communicate(timeout=10)
    assert (out, err) == ("ab\n", "")


def test_a_handler_that_raises_ends_the_run(scenario: Any) -> None:
    provider = scenario(SILENT)
    code = """
    import signal
    class Alarm(Exception): pass
    def handler(*_): raise Alarm
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    stream = agent.stream("x")
    try:
        list(stream)
    except Alarm:
        print(stream.run.outcome, repr(stream.run.error))
    """
    status, out, err = run(code, provider.base_url)
    assert (status, out, err) == (0, "failed Alarm()\n", "")
    provider.wait(disconnects=1)


def test_a_handler_may_raise_at_any_moment(scenario: Any) -> None:
    answers = [{"chat": {"tool_calls": [{"name": "work", "arguments": {}}]}}, says(["a", "b", "c"])]
    provider = scenario(*answers, cycle=True, unordered=True)
    code = """
    import random, signal
    class Alarm(Exception): pass
    armed = False
    def handler(*_):
        if armed: raise Alarm
    signal.signal(signal.SIGALRM, handler)
    @tool
    def work(context: RunContext) -> str:
        "Work."
        return "ok"
    agent.tools = [work]
    numbers = random.Random(1)
    ends, open_resources = set(), 0
    for number in range(400):
        closed = []
        stream = agent.stream("x")
        stream.run.register("resource", closed.append)
        signal.setitimer(signal.ITIMER_REAL, numbers.uniform(0.0001, 0.008))
        try:
            armed = True
            list(stream)
            armed = False
        except Alarm:
            armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        stream.close()
        ends.add(stream.run.outcome)
        assert len(closed) <= 1, closed
        # Before the run begins, or at the very start of the closer: nobody can close it then.
        open_resources += not closed
    assert ends >= {"completed", "failed"} and ends <= {"completed", "failed", None}, ends
    print("done" if open_resources < 10 else open_resources)
    """
    status, out, err = run(code, provider.base_url)
    assert (status, out) == (0, "done\n"), err


@pytest.mark.parametrize("way", ['agent.ask("x")', 'list(agent.stream("x"))'])
def test_a_handler_that_raises_before_a_run_begins(scenario: Any, way: str) -> None:
    provider = scenario(says(["a"]))
    code = f"""
    import os, signal
    from little_ghost import driver
    class Alarm(Exception): pass
    def handler(*_): raise Alarm
    signal.signal(signal.SIGALRM, handler)
    def wanted(runtime):
        os.kill(os.getpid(), signal.SIGALRM)
        return {{}}
    driver.wanted = wanted
    try:
        {way}
    except Alarm:
        print("left")
    """
    status, out, err = run(code, provider.base_url)
    assert (status, out) == (0, "left\n"), err


def test_other_threads_run_while_one_waits(scenario: Any) -> None:
    provider = scenario(SILENT)
    code = """
    import threading, time
    count = 0
    def counting():
        global count
        while True:
            count += 1
    threading.Thread(target=counting, daemon=True).start()
    before = count
    run = agent.ask("x", timeout=0.3)
    print(run.outcome, count - before > 100_000)
    """
    assert run(code, provider.base_url) == (0, "partial True\n", "")


def test_fork_after_use(scenario: Any) -> None:
    provider = scenario(says("a"), cycle=True)
    code = """
    import os, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    assert agent.ask("x").completed
    children = []
    for number in range(8):
        pid = os.fork()
        if pid == 0:
            fresh = Agent(runtime=agent.runtime)
            ok = agent.ask("x").completed and fresh.ask("x").completed
            os._exit(0 if ok else 1)
        children.append(pid)
    print([os.waitpid(pid, 0)[1] for pid in children])
    print(agent.ask("x").outcome)
    """
    assert run(code, provider.base_url) == (0, f"{[0] * 8}\ncompleted\n", "")
    # 1 + 8 * 2 + 1 requests, and no socket that two processes share.
    journal = provider.wait(answered=18)
    assert len(journal) == 18
    assert len({request["connection"] for request in journal}) >= 9


def test_fork_with_asyncio_on_both_sides(scenario: Any) -> None:
    provider = scenario(says("a"), cycle=True)
    code = """
    import asyncio, os, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    assert asyncio.run(agent.ask_async("x")).completed
    pid = os.fork()
    if pid == 0:
        os._exit(0 if asyncio.run(agent.ask_async("x")).completed else 1)
    print(os.waitpid(pid, 0)[1], asyncio.run(agent.ask_async("x")).outcome)
    """
    assert run(code, provider.base_url) == (0, "0 completed\n", "")


def test_a_run_of_the_parent_raises_in_the_child(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    code = """
    import gc, os, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    stream = agent.stream("x")
    while next(stream).type != "text_delta": pass
    pid = os.fork()
    if pid == 0:
        try:
            next(stream); next(stream)
        except Error as error:
            ok = str(os.getpid()) in str(error) and str(os.getppid()) in str(error)
            del stream
            gc.collect()
            os._exit(0 if ok else 1)
        os._exit(2)
    print(os.waitpid(pid, 0)[1], next(stream).data)
    stream.close()
    print(stream.run.outcome)
    """
    assert run(code, provider.base_url) == (0, "0 {'text': ' second'}\ncancelled\n", "")
    provider.wait(disconnects=1)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(scenario: Any, method: str, tmp_path: Any) -> None:
    provider = scenario(says("a"), cycle=True)
    module = tmp_path / "workers.py"
    module.write_text(
        "from scripted import runtime_for\n"
        "from little_ghost import Agent\n"
        "def work(base_url):\n"
        "    return Agent(runtime=runtime_for(base_url)).ask('x').response\n"
    )
    code = f"""
    import multiprocessing, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    sys.path.insert(0, {str(tmp_path)!r})
    import workers
    if __name__ == "__main__":
        assert agent.ask("x").completed
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            print(pool.map(workers.work, [sys.argv[1]] * 4))
        print(agent.ask("x").outcome)
    """
    status, out, err = run(code, provider.base_url)
    assert (status, out) == (0, "['a', 'a', 'a', 'a']\ncompleted\n"), err


def test_preload_then_fork_workers(scenario: Any) -> None:
    # As gunicorn --preload does: the application is imported and used, then workers are forked.
    provider = scenario(says("a"), cycle=True)
    code = """
    import os, signal, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    assert agent.ask("x").completed
    workers = []
    for _ in range(3):
        reads, writes = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writes, agent.ask("x").response.encode())
            sys.exit(0)
        workers.append((pid, reads))
    for pid, reads in workers:
        assert os.read(reads, 10) == b"a"
        assert os.waitpid(pid, 0)[1] == 0
    print("served")
    """
    assert run(code, provider.base_url) == (0, "served\n", "")


def test_exit_with_a_blocked_thread_is_quick_and_silent(scenario: Any) -> None:
    provider = scenario(SILENT, SILENT)
    code = """
    import threading
    @tool
    def never() -> None:
        "Never."
    for _ in range(2):
        threading.Thread(target=lambda: agent.ask("x"), daemon=True).start()
    sys.stdin.readline()
    """
    process = start(code, provider.base_url)
    provider.wait(requests=2)
    begun = time.perf_counter()
    _, err = process.communicate("\n", timeout=20)
    assert time.perf_counter() - begun < 2
    assert (process.returncode, err) == (0, "")
    provider.wait(disconnects=2)


def test_exit_with_an_open_stream(scenario: Any) -> None:
    provider = scenario(ENDLESS, ENDLESS)
    code = """
    stream = agent.stream("x")
    while next(stream).type != "text_delta": pass
    execution = agent.start_execution("x")
    """
    assert run(code, provider.base_url) == (0, "", "")


def test_a_panic_is_survived(scenario: Any) -> None:
    provider = scenario(says("a"))
    code = """
    try:
        _native.provoke_panic()
    except Error as error:
        print(error)
    print(agent.ask("x").response)
    """
    status, out, _ = run(code, provider.base_url)
    assert (status, out) == (0, "the engine failed unexpectedly: provoked by a test\na\n")


def test_import_is_light() -> None:
    code = (
        "import sys, little_ghost; print({'asyncio', 'json', 'pydantic', 'ssl'} & set(sys.modules))"
    )
    # Without `site`, which may import anything.
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_a_thousand_runs_leave_nothing(scenario: Any) -> None:
    provider = scenario(says("a"), cycle=True)
    code = """
    import gc, os
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    def work(count):
        for _ in range(count):
            assert agent.ask("x").completed
            stream = agent.stream("x")
            next(stream)
            stream.close()
        gc.collect()
    work(300)
    before, descriptors = resident(), len(os.listdir("/proc/self/fd"))
    work(700)
    print(resident() - before < 4_000_000, len(os.listdir("/proc/self/fd")) - descriptors < 5)
    """
    assert run(code, provider.base_url, timeout=60)[:2] == (0, "True True\n")
