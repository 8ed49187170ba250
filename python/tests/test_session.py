"""Conversations: sessions and the stores that keep them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recording_store import AsyncRecordingStore, RecordingStore

from little_ghost import (
    Error,
    FilesystemStore,
    MemoryStore,
    Message,
    ProtocolError,
    Reasoning,
    RunResult,
    Session,
    SessionStore,
    Snapshot,
    Text,
    Usage,
)

Data = dict[str, Any]


def opened(store: SessionStore, **options: Any) -> Session:
    return Session("conversation-42", store, actor_id="user-7", **options)


def said(*texts: str) -> list[Message]:
    return [Message("user", text) for text in texts]


def texts(found: Any) -> list[str]:
    return [message.text for message in (found.messages if isinstance(found, Snapshot) else found)]


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return MemoryStore() if request.param == "memory" else FilesystemStore(tmp_path / "sessions")


def test_a_conversation_continues(store: SessionStore) -> None:
    opened(store).append(said("Hello"), state={"language": "en"})
    again = opened(store)
    assert texts(again.history()) == ["Hello"]
    assert again.state() == {"language": "en"}
    assert again.metadata() == {}


def test_nothing_is_read_before_it_is_needed_and_then_once() -> None:
    store = RecordingStore()
    session = opened(store, metadata={"kind": "support"})
    assert store.calls == []
    assert texts(session.history(said("before"))) == ["before"]
    assert (session.load(), session.state(), session.metadata()) == (None, {}, {"kind": "support"})
    assert store.calls == [("load", "conversation-42", "user-7")]


def test_only_the_conversation_is_kept() -> None:
    store = RecordingStore()
    thought = Reasoning("private")
    messages = [
        Message("system", "Be brief."),
        Message("user", "Hello"),
        Message("user", "for now", {"transient": True}),
        Message("assistant", [thought, Text("Hi")]),
        Message("assistant", [thought]),
    ]
    opened(store).append(messages)
    kept = opened(store).history()
    assert texts(kept) == ["Hello", "Hi"]
    assert [len(message.content) for message in kept] == [1, 1]


def test_a_checkpoint_writes_what_changed() -> None:
    store = RecordingStore()
    session = opened(store)
    session.checkpoint(said("one"), state={"n": 1})
    session.checkpoint(said("one"), state={"n": 1})
    session.checkpoint(said("one", "two"))
    session.checkpoint(said("one", "two"), state={"n": 2}, metadata={"m": 1})
    session.checkpoint(said("two"))
    assert store.calls[1:] == [
        ("append", ["one"], {"n": 1}, {}, 0),
        ("append", ["two"], {"n": 1}, {}, 1),
        ("append", [], {"n": 2}, {"m": 1}, 2),
        ("replace", ["two"], {"n": 2}, {"m": 1}),
    ]
    assert (texts(session.history()), session.state()) == (["two"], {"n": 2})


def test_a_writer_that_was_too_slow(store: SessionStore) -> None:
    slow, fast = opened(store), opened(store)
    assert slow.load() is None
    fast.append(said("first"))
    with pytest.raises(ProtocolError, match="another writer"):
        slow.append(said("second"))
    assert slow.history() == ()
    assert texts(opened(store).history()) == ["first"]


def test_another_actor_is_refused(store: SessionStore) -> None:
    opened(store).append(said("mine"))
    for actor in (None, "user-8"):
        with pytest.raises(Error, match="another actor") as caught:
            Session("conversation-42", store, actor_id=actor).load()
        assert type(caught.value) is Error


@pytest.mark.parametrize("value", [object(), float("nan"), 2**80, {1: 2}, b"bytes"])
def test_what_is_no_plain_data_is_refused(store: SessionStore, value: Any) -> None:
    opened(store).append(said("one"))
    with pytest.raises(ProtocolError):
        opened(store).append(said("two"), state={"value": value})
    with pytest.raises(ProtocolError):
        store.append(
            "conversation-42",
            actor_id="user-7",
            messages=said("two"),
            state={"value": value},
            metadata={},
            expected_count=1,
        )
    assert texts(opened(store).history()) == ["one"]


def test_state_is_a_copy() -> None:
    store = RecordingStore()
    store.snapshots["user-7", "conversation-42"] = {
        "messages": [{"role": "user", "content": "Hello"}],
        "state": {"n": {"deep": [1]}},
    }
    session = opened(store)
    session.state()["n"]["deep"].append(2)
    assert session.state() == {"n": {"deep": [1]}}
    assert texts(session.history()) == ["Hello"]


@pytest.mark.parametrize("found", [5, {"messages": [{"role": "robot"}]}, {"state": 5}])
def test_an_unusable_snapshot_is_refused(found: Any) -> None:
    store = RecordingStore()
    store.snapshots["user-7", "conversation-42"] = found
    with pytest.raises(ProtocolError):
        opened(store).load()


def test_a_result_is_a_checkpoint() -> None:
    store = RecordingStore()
    result = RunResult(
        message=said("b")[0],
        stop_reason="end_turn",
        usage=Usage(),
        messages=(Message("system", "s"), *said("a", "b")),
        state={"n": 1},
    )
    opened(store).checkpoint_result(result)
    assert store.calls[1:] == [("append", ["a", "b"], {"n": 1}, {}, 0)]


def test_a_projection_is_left_to_the_store() -> None:
    assert opened(MemoryStore()).project_conversation(said("a")) is None
    store = RecordingStore()
    opened(store, metadata={"m": 1}).project_conversation([Message("system", "shown")])
    assert store.calls[1:] == [("project", ["shown"], {"m": 1})]


def test_asyncio_and_an_asynchronous_store() -> None:
    store = AsyncRecordingStore()

    async def main() -> None:
        session = opened(store)
        assert await session.load_async() is None
        await session.append_async(said("one"))
        await session.checkpoint_async(said("one", "two"), state={"n": 1})
        await session.replace_async(said("three"))
        assert await session.project_conversation_async(said("x")) is None
        with pytest.raises(Error, match="_async"):
            opened(store).load()

    asyncio.run(main())
    assert [call[0] for call in store.calls] == [
        "load",
        "append",
        "append",
        "replace",
        "project",
    ]
    assert texts(opened(store).history()) == ["three"]


def test_a_plain_store_under_asyncio_runs_aside() -> None:
    threads: list[int] = []

    class Store(RecordingStore):
        def load(self, id: str, *, actor_id: str | None = None) -> Any:
            threads.append(threading.get_ident())
            return super().load(id, actor_id=actor_id)

    asyncio.run(opened(Store()).load_async())
    assert threads != [threading.get_ident()]


# -- locks -------------------------------------------------------------------------------------------


@pytest.fixture(params=["application", "memory", "files"])
def locking(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    makers: dict[str, Callable[[], SessionStore]] = {
        "application": RecordingStore,
        "memory": MemoryStore,
        "files": lambda: FilesystemStore(tmp_path / "sessions"),
    }
    return makers[request.param]()


def test_threads_take_turns(locking: SessionStore) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(5):
            with locking.synchronize("a", actor_id="u"):  # type: ignore[union-attr]
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 40


def test_tasks_take_turns_while_the_loop_goes_on(locking: SessionStore) -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def work(name: str) -> None:
            async with locking.synchronize("a"):  # type: ignore[union-attr]
                order.append(f"+{name}")
                await asyncio.sleep(0)
                order.append(f"-{name}")

        async with locking.synchronize("b"):  # type: ignore[union-attr]
            await asyncio.gather(*(work(str(number)) for number in range(4)))
        return order

    order = asyncio.run(main())
    assert [name[0] for name in order] == ["+", "-"] * 4


def test_a_cancelled_waiter_leaves_the_lock_to_others(locking: SessionStore) -> None:
    async def main() -> bool:
        async with locking.synchronize("a"):  # type: ignore[union-attr]
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(locking.synchronize("a").__aenter__(), 0.05)  # type: ignore[union-attr]
        with pytest.raises(KeyError):
            async with locking.synchronize("a"):  # type: ignore[union-attr]
                raise KeyError
        async with locking.synchronize("a"):  # type: ignore[union-attr]
            return True

    assert asyncio.run(main())


# -- files -------------------------------------------------------------------------------------------


def test_the_file(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    opened(FilesystemStore(root)).append(said("Hello"), state={"f": 0.1 + 0.2})
    name = hashlib.sha256(b"little_ghost/filesystem_session/v1\0conversation-42").hexdigest()
    assert sorted(path.name for path in root.iterdir()) == [f"{name}.json", f"{name}.lock"]
    assert root.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in root.iterdir()} == {0o600}
    document = json.loads((root / f"{name}.json").read_text(encoding="utf-8"))
    digest = document.pop("digest")
    content = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(content).hexdigest() == digest
    assert document["snapshot"]["state"] == {"f": 0.30000000000000004}
    assert opened(FilesystemStore(root)).state() == {"f": 0.30000000000000004}


def test_a_damaged_file_is_refused_and_stays(tmp_path: Path) -> None:
    store = FilesystemStore(tmp_path / "sessions")
    opened(store).append(said("one"))
    file = next((tmp_path / "sessions").glob("*.json"))
    file.write_text(file.read_text().replace("one", "two"))
    damaged = file.read_bytes()
    with pytest.raises(ProtocolError):
        opened(store).load()
    with pytest.raises(ProtocolError):
        opened(store).replace(said("x"))
    assert file.read_bytes() == damaged


def test_unsuitable_roots(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "file").write_text("")
    for root in ("", tmp_path / "open", tmp_path / "file"):
        with pytest.raises(ValueError, match="session root"):
            FilesystemStore(root)
    with pytest.raises(TypeError):
        FilesystemStore(5)  # type: ignore[arg-type]


def test_a_store_that_implements_nothing_says_so() -> None:
    with pytest.raises(Error, match="must implement load"):
        opened(SessionStore()).load()
    with pytest.raises(ValueError, match="id"):
        Session("", MemoryStore())
    assert "user-7" not in repr(opened(MemoryStore()))


def test_the_id_of_a_session_is_text() -> None:
    number: Any = 5
    with pytest.raises(TypeError, match="must be a str, not int"):
        Session(number, MemoryStore())
