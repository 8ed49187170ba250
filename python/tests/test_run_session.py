"""Runs that continue conversations."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from recording_store import AsyncRecordingStore, RecordingStore
from scripted import SILENT, Provider, calls, says, texts

from little_ghost import (
    Agent,
    ConfigurationError,
    Error,
    FilesystemStore,
    Hook,
    MemoryStore,
    Run,
    RunContext,
    SessionStore,
    tool,
)


@pytest.fixture(params=["memory", "files", "plain", "coroutines"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    if request.param == "files":
        return FilesystemStore(tmp_path / "sessions")
    makers = {"memory": MemoryStore, "plain": RecordingStore, "coroutines": AsyncRecordingStore}
    return makers[request.param]()


@pytest.fixture(params=["thread", "asyncio"])
def asked(request: pytest.FixtureRequest) -> Any:
    """Asks an agent, in this thread or on an event loop."""
    if request.param == "thread":
        return lambda agent, *arguments, **options: agent.ask(*arguments, **options)
    return lambda agent, *arguments, **options: asyncio.run(agent.ask_async(*arguments, **options))


def agent_of(provider: Provider, store: SessionStore | None = None, **options: Any) -> Agent:
    settings = {key: options.pop(key) for key in ("hooks", "session_actor") if key in options}
    runtime = provider.runtime().build(session_store=store, **settings)
    return Agent(runtime=runtime, system_prompt="Be brief.", **options)


def test_a_later_run_continues(store: SessionStore, asked: Any) -> None:
    provider = Provider(says("Hi Ada"), says("Ada"))
    agent = agent_of(provider, store)
    first: Run = asked(
        agent, "I am Ada", session_id="c", actor_id="u", context={"language": "en", "n": 1}
    )
    assert first.completed, first.error
    second: Run = asked(agent, "Who am I?", session_id="c", actor_id="u", context={"n": 2})
    assert second.response == "Ada"
    assert texts(provider.journal()[1]) == ["Be brief.", "I am Ada", "Hi Ada", "Who am I?"]
    assert second.state == {"language": "en", "n": 2}
    assert (second.session.id, second.session.actor_id) == ("c", "u")
    assert second.session.store is store
    if not isinstance(store, AsyncRecordingStore):
        assert len(second.session.history()) == 4
        assert second.session.state() == {"language": "en", "n": 2}


def test_state_that_tools_change_is_kept(store: SessionStore, asked: Any) -> None:
    @tool
    def count(context: RunContext) -> int:
        """Counts."""
        context.state["n"] = context.state.get("n", 0) + 1
        return context.state["n"]

    provider = Provider(calls(("count", {})), says("1"), calls(("count", {})), says("2"))
    agent = agent_of(provider, store, tools=[count])
    for _ in range(2):
        run = asked(agent, "count", session_id="c")
        assert run.completed, run.error
    assert run.state == {"n": 2}
    roles = [message["role"] for message in provider.journal()[3]["body"]["messages"]]
    assert roles[1:5] == ["user", "assistant", "tool", "assistant"]


def test_each_run_without_an_id_is_a_conversation_of_its_own(asked: Any) -> None:
    provider = Provider(says("a"), says("b"))
    agent = agent_of(provider)
    assert [asked(agent, "hello").response for _ in range(2)] == ["a", "b"]
    assert [len(texts(request)) for request in provider.journal()] == [2, 2]


def test_objects_of_the_request_are_not_kept(store: SessionStore, asked: Any) -> None:
    client = object()
    agent = agent_of(Provider(says("a"), says("b")), store)
    first = asked(agent, "hi", session_id="c", context={"client": client, "n": 1})
    assert first.completed, first.error
    assert first.state["client"] is client
    assert asked(agent, "hi", session_id="c").state == {"n": 1}


def test_a_failed_run_leaves_the_last_checkpoint(store: SessionStore, asked: Any) -> None:
    provider = Provider(says("Hi"), {"status": 400, "body": "{}"}, says("again"))
    agent = agent_of(provider, store)
    outcomes = [asked(agent, text, session_id="c").outcome for text in ("one", "two", "three")]
    assert outcomes == ["completed", "failed", "completed"]
    assert texts(provider.journal()[2])[1:] == ["one", "Hi", "two", "three"]


def test_checkpoints_of_a_run(asked: Any) -> None:
    @tool
    def add() -> int:
        """Adds."""
        return 3

    store = RecordingStore()
    asked(agent_of(Provider(calls(("add", {})), says("3")), store, tools=[add]), "1 + 2?")
    assert [call[0] for call in store.calls] == ["load", "append", "append", "append"]
    assert [call[4] for call in store.calls[1:]] == [0, 1, 3]


def test_the_actor_is_what_the_settings_derive(store: SessionStore) -> None:
    agent = agent_of(
        Provider(says("a")), store, session_actor=lambda invocation: f"t-{invocation.actor_id}"
    )
    assert agent.ask("hi", session_id="c", actor_id="5").session.actor_id == "t-5"


def test_another_actor_gets_a_failed_run(asked: Any) -> None:
    provider = Provider(says("a"))
    agent = agent_of(provider)
    asked(agent, "mine", session_id="c", actor_id="u")
    run = asked(agent, "theirs", session_id="c", actor_id="v")
    assert (run.outcome, type(run.error)) == ("failed", Error)
    assert len(provider.journal()) == 1


class Failing(RecordingStore):
    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at

    @contextmanager
    def synchronize(self, id: str, *, actor_id: str | None = None) -> Any:
        if self.at == "enter":
            raise KeyError("no lock")
        yield
        if self.at == "leave":
            raise KeyError("no unlock")

    def load(self, *arguments: Any, **options: Any) -> Any:
        if self.at == "load":
            raise KeyError("gone")
        return super().load(*arguments, **options)

    def append(self, *arguments: Any, **options: Any) -> Any:
        if self.at == "append":
            raise KeyError("full")
        return super().append(*arguments, **options)


@pytest.mark.parametrize("at", ["enter", "load", "append", "leave"])
def test_a_store_that_fails_makes_a_failed_run(asked: Any, at: str) -> None:
    provider = Provider(says("a"))
    run: Run = asked(agent_of(provider, Failing(at)), "hi")
    assert (run.outcome, type(run.error)) == ("failed", KeyError)
    assert len(provider.journal()) == (1 if at == "leave" else 0)
    assert (None if run.result is None else run.result.text) == ("a" if at == "leave" else None)


class Locked(RecordingStore):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    @contextmanager
    def synchronize(self, id: str, *, actor_id: str | None = None) -> Any:
        self.log.append("enter")
        try:
            yield
        finally:
            self.log.append("leave")


class AsyncLocked(RecordingStore):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    @asynccontextmanager
    async def synchronize(self, id: str, *, actor_id: str | None = None) -> Any:
        self.log.append("enter")
        try:
            yield
        finally:
            self.log.append("leave")


@pytest.mark.parametrize("kind", [Locked, AsyncLocked])
def test_the_work_is_inside_the_stores_own_lock(kind: type[Any]) -> None:
    store = kind()
    with agent_of(Provider(says("a")), store).stream("hi") as stream:
        for event in stream:
            if event.type in ("model_start", "run_stop"):
                store.log.append(event.type)
    assert store.log == ["enter", "model_start", "leave", "run_stop"]


@pytest.mark.parametrize("kind", [Locked, AsyncLocked])
def test_leaving_early_leaves_the_lock(kind: type[Any]) -> None:
    store = kind()
    agent = agent_of(Provider(SILENT, SILENT), store)
    for event in agent.stream("hi"):
        if event.type == "model_start":
            break
    assert store.log == ["enter", "leave"]

    async def main() -> None:
        await asyncio.wait_for(agent.ask_async("hi"), 0.2)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(main())
    assert store.log == ["enter", "leave"] * 2


def test_threads_of_one_conversation_take_turns(store: SessionStore) -> None:
    provider = Provider(*[says("a")] * 6)
    agent = agent_of(provider, store)
    runs: list[Run] = []
    threads = [
        threading.Thread(target=lambda: runs.append(agent.ask("hi", session_id="c")))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.error for run in runs] == [None] * 6
    assert sorted(len(texts(request)) for request in provider.journal()) == [2, 4, 6, 8, 10, 12]


def test_tasks_of_one_conversation_take_turns(store: SessionStore) -> None:
    provider = Provider(*[says("a")] * 6)
    agent = agent_of(provider, store)

    async def main() -> list[Run]:
        return await asyncio.gather(*(agent.ask_async("hi", session_id="c") for _ in range(6)))

    assert [run.error for run in asyncio.run(main())] == [None] * 6
    assert sorted(len(texts(request)) for request in provider.journal()) == [2, 4, 6, 8, 10, 12]


def test_a_deadline_ends_the_wait_for_the_conversation(asked: Any) -> None:
    store = MemoryStore()
    agent = agent_of(Provider(), store)
    with store.synchronize("c"):
        assert asked(agent, "hi", session_id="c", timeout=0.05).outcome == "partial"


def test_a_signal_ends_the_wait_for_a_lock() -> None:
    store = MemoryStore()

    def interrupt(*_: Any) -> None:
        raise KeyError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with store.synchronize("c"):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyError), store.synchronize("c"):
                pass
    finally:
        signal.signal(signal.SIGALRM, before)
    with store.synchronize("c"):
        pass


class Forgetful(Hook):
    def session_history(self, run: Run, *, stored: Any, fallback: Any) -> Any:
        return None if run.invocation.metadata.get("plain") else [*stored[:1], *fallback]


class SlowlyForgetful(Forgetful):
    async def session_history(self, run: Run, *, stored: Any, fallback: Any) -> Any:
        return super().session_history(run, stored=stored, fallback=fallback)


@pytest.mark.parametrize("hook", [Forgetful, SlowlyForgetful])
def test_a_hook_chooses_the_history(hook: type[Hook], store: SessionStore, asked: Any) -> None:
    provider = Provider(says("a"), says("b"), says("c"))
    agent = agent_of(provider, store, hooks=[hook])
    asked(agent, "one", session_id="c")
    given = [{"role": "user", "content": "given"}]
    asked(agent, "two", session_id="c", history=given)
    asked(agent, "three", session_id="c", metadata={"plain": True})
    assert [texts(request)[1:] for request in provider.journal()] == [
        ["one"],
        ["one", "given", "two"],
        ["one", "given", "two", "b", "three"],
    ]


def test_a_hook_words_the_error(asked: Any) -> None:
    class Polite(Hook):
        def error_message(self, error: BaseException, run: Run) -> str:
            return f"{type(error).__name__} in {run.session.id}"

    agent = agent_of(Provider(), Failing("load"), hooks=[Polite])
    *_, last = agent.stream("hi", session_id="c")
    assert last.data["message"] == "KeyError in c"


def test_a_setting_that_is_no_store_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="SessionStore"):
        Provider().runtime().build(session_store=object())  # type: ignore[arg-type]


def test_the_actor_of_a_session_is_text() -> None:
    provider = Provider()
    run = agent_of(provider, session_actor=lambda invocation: 5).ask("x")
    assert isinstance(run.error, ConfigurationError)
    assert "session_actor must give a str or None, not int" in str(run.error)
