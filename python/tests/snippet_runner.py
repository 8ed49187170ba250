"""Runs the blocks that it reads, in order, as one program whose provider is the scripted server."""

import asyncio
import inspect
import json
import sys
import types

from little_ghost import configure

given = json.load(sys.stdin)
configure(
    providers={
        "openrouter": {
            "adapter": "openrouter",
            "api_key": "test-key",
            "base_url": given["base_url"],
        }
    }
)

program = types.ModuleType("__main__")
sys.modules["__main__"] = program
for block in given["blocks"]:
    # Tracebacks point into the file that the block is from.
    source = "\n" * (block["line"] - 1) + block["code"]
    exec(compile(source, block["file"], "exec"), program.__dict__)

# Those with fixtures are pytest's, and tested elsewhere.
tests = [
    value
    for name, value in program.__dict__.items()
    if name.startswith("test_") and not inspect.signature(value).parameters
]
for test in tests:
    if inspect.iscoroutinefunction(test):
        asyncio.run(test())
    else:
        test()
if tests:
    print(len(tests), "tests")
