"""One measurement in Python: bench.py SIDE MEASUREMENT BASE_URL COUNT. Prints one JSON line."""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

side, measurement, base_url, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


HISTORY = [
    {"role": "user" if index % 2 == 0 else "assistant", "content": f"Message {index}. " * 20}
    for index in range(100)
]
LARGE = "0123456789abcde\n" * 65_536
TURN = [
    {"role": "user", "content": "How long does shipping take? " * 4},
    {"role": "assistant", "content": "Three days. " * 10},
]


def report(**values):
    print(json.dumps(values), flush=True)


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def cpu_of(units, work):
    before = time.process_time()
    work()
    report(microseconds=(time.process_time() - before) * 1e6 / units)


def make_agent(answer=None):
    from little_ghost import Agent, Runtime, tool

    @tool
    def help_center_lookup(topic: str) -> str:
        """Look up a help center entry by topic."""
        return answer or f"{topic}: within 30 days."

    runtime = Runtime(
        providers={
            "scripted": {
                "adapter": "openai_compatible",
                "api_key": "test",
                "base_url": base_url,
                "api": "chat_completions",
            }
        }
    )
    return Agent(
        name="support",
        model="scripted:scripted-model",
        system_prompt="Answer clearly.",
        tools=[help_center_lookup],
        max_tool_result_tokens=1_000_000,
        runtime=runtime,
    )


def plain_deltas():
    from plain import PlainClient

    client = PlainClient(base_url)
    messages = [{"role": "user", "content": "Hello"}]
    for _ in client.text(messages):
        pass

    def work():
        seen = 0
        for text in client.text(messages):
            seen += len(text)

    cpu_of(count, work)


def ours_deltas():
    agent = make_agent()
    for _ in agent.stream("Hello"):
        pass

    def work():
        seen = 0
        for event in agent.stream("Hello"):
            if event.type == "text_delta":
                seen += len(event.data["text"])

    cpu_of(count, work)


def ours_deltas_async():
    import asyncio

    agent = make_agent()

    async def consume():
        seen = 0
        async for event in agent.stream_async("Hello"):
            if event.type == "text_delta":
                seen += len(event.data["text"])

    async def both():
        await consume()
        before = time.process_time()
        await consume()
        report(microseconds=(time.process_time() - before) * 1e6 / count)

    asyncio.run(both())


def plain_runs():
    from plain import PlainClient

    client = PlainClient(base_url)
    for _ in range(100):
        client.run_with_tool()
    cpu_of(count, lambda: [client.run_with_tool() for _ in range(count)])


def ours_runs():
    agent = make_agent()
    for _ in range(100):
        agent.ask("Can I get a refund?")

    def work():
        for _ in range(count):
            assert agent.ask("Can I get a refund?").completed

    cpu_of(count, work)


def plain_history():
    from plain import PlainClient

    client = PlainClient(base_url)
    for _ in range(20):
        client.answer(HISTORY)
    cpu_of(count, lambda: [client.answer(HISTORY) for _ in range(count)])


def ours_history():
    agent = make_agent()
    for _ in range(20):
        agent.ask("Hello", history=HISTORY)

    def work():
        for _ in range(count):
            assert agent.ask("Hello", history=HISTORY).completed

    cpu_of(count, work)


def plain_large():
    from plain import PlainClient

    client = PlainClient(base_url)
    for _ in range(5):
        client.run_with_tool(LARGE)
    cpu_of(count, lambda: [client.run_with_tool(LARGE) for _ in range(count)])


def ours_large():
    agent = make_agent(LARGE)
    for _ in range(5):
        agent.ask("Can I get a refund?")

    def work():
        for _ in range(count):
            assert agent.ask("Can I get a refund?").completed

    cpu_of(count, work)


def plain_session():
    from plain import PlainSession

    with tempfile.TemporaryDirectory() as folder:
        session = PlainSession(Path(folder, "session.json"))
        cpu_of(count, lambda: [session.append(TURN) for _ in range(count)])


def ours_session():
    from little_ghost import FilesystemStore, Message, Session

    with tempfile.TemporaryDirectory() as folder:
        session = Session(
            "conversation",
            store=FilesystemStore(Path(folder, "sessions")),
            actor_id="user",
        )
        turn = [Message(**message) for message in TURN]
        cpu_of(count, lambda: [session.append(turn) for _ in range(count)])


def ours_memory():
    agent = make_agent()
    for _ in range(count // 10):
        agent.ask("Can I get a refund?")
    first = resident()
    for _ in range(count):
        agent.ask("Can I get a refund?")
    report(first=first, last=resident())


def make_graph():
    """Three agents in a row."""
    from little_ghost import Agent, Graph

    support = make_agent()
    node = Agent(
        name="support", model=support.model, system_prompt="Answer clearly.", tools=support.tools
    )
    return Graph(
        name="support_flow",
        nodes={"triage": node, "research": node, "respond": node},
        edges=[("triage", "research"), ("research", "respond")],
        start="triage",
        finish="respond",
        runtime=support.runtime,
    )


def ours_agents():
    agent = make_agent()
    for _ in range(50):
        agent.ask("Can I get a refund?")

    def work():
        for _ in range(3 * count):
            assert agent.ask("Can I get a refund?").completed

    cpu_of(count, work)


def ours_graph():
    graph = make_graph()
    for _ in range(50):
        graph.ask("Can I get a refund?")

    def work():
        for _ in range(count):
            assert graph.ask("Can I get a refund?").completed

    cpu_of(count, work)


def ours_graph_memory():
    graph = make_graph()
    for _ in range(count):
        graph.ask("Can I get a refund?")
    first = resident()
    for _ in range(count):
        graph.ask("Can I get a refund?")
    report(first=first, last=resident())


def ours_open():
    import asyncio

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count * 4, hard), hard))
    agent = make_agent()
    opened = 0

    async def one():
        nonlocal opened
        async for event in agent.stream_async("Hello"):
            if event.type == "text_delta":
                opened += 1
                if opened == count:
                    report(resident=resident())
                    os._exit(0)

    async def all_of_them():
        await asyncio.gather(*(one() for _ in range(count)))

    asyncio.run(all_of_them())


def ours_cancel():
    from http.client import HTTPConnection

    base = urlsplit(base_url)
    scenario = base.path.split("/")[2]
    agent = make_agent()
    times = []
    for index in range(count):
        stream = agent.stream("Hello")
        for event in stream:
            if event.type == "text_delta":
                break
        left = time.monotonic()
        stream.close()
        http = HTTPConnection(base.hostname, base.port)
        http.request("GET", f"/_scenarios/{scenario}/wait?disconnects={index + 1}&timeout_ms=5000")
        http.getresponse().read()
        times.append((time.monotonic() - left) * 1e3)
    report(milliseconds=max(times))


{
    ("plain", "deltas"): plain_deltas,
    ("ours", "deltas"): ours_deltas,
    ("ours", "deltas_async"): ours_deltas_async,
    ("plain", "runs"): plain_runs,
    ("ours", "runs"): ours_runs,
    ("plain", "history"): plain_history,
    ("ours", "history"): ours_history,
    ("plain", "large"): plain_large,
    ("ours", "large"): ours_large,
    ("plain", "session"): plain_session,
    ("ours", "session"): ours_session,
    ("ours", "memory"): ours_memory,
    ("ours", "agents"): ours_agents,
    ("ours", "graph"): ours_graph,
    ("ours", "graph_memory"): ours_graph_memory,
    ("ours", "open"): ours_open,
    ("ours", "cancel"): ours_cancel,
}[(side, measurement)]()
