"""Runs a piece of Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

TESTS = Path(__file__).parent

PREAMBLE = """
import sys
from scripted import runtime_for
from little_ghost import *
from little_ghost import _native
agent = Agent(runtime=runtime_for(sys.argv[1]))
"""


def start(code: str, base_url: str = "") -> subprocess.Popen[str]:
    """Starts `code`, which finds an `agent` that asks the provider at `base_url`."""
    path = [str(TESTS), str(TESTS.parent / "src")]
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(code), base_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )


def run(code: str, base_url: str = "", *, timeout: float = 30) -> tuple[int, str, str]:
    """Runs `code`; gives its exit status, output and error output."""
    process = start(code, base_url)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err
