"""Cassettes and faults, put over an application's own connections; and the fixtures of the plugin."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scripted import Provider, runtime_for, says

from little_ghost import Agent, ConfigurationError, HTTPError, testing
from little_ghost.testing import UnmetExpectation

KEY = "sk-live-0123456789abcdef"


def agent_of(provider: Provider) -> Agent:
    return Agent(runtime=runtime_for(provider.base_url, api_key=KEY), system_prompt="Be brief.")


def test_a_recorded_exchange_is_played_without_a_network(tmp_path: Path) -> None:
    provider = Provider(says(["Hello, ", "you"]))
    message = f"My key is {KEY}"
    with testing.cassette(tmp_path / "support/hello") as tape:
        assert tape.recording
        first = agent_of(provider).ask(message)
    text = (tmp_path / "support/hello.json").read_text("utf-8")
    assert KEY not in text
    assert "bearer" not in text.lower() and "authorization" not in text.lower()
    assert "My key is [scrubbed]" in text
    with testing.cassette(tmp_path / "support/hello.json") as tape:
        assert not tape.recording
        assert agent_of(provider).ask(message).response == first.response == "Hello, you"
    assert len(provider.journal()) == 1
    assert "playing" in repr(tape)


def test_texts_to_scrub_are_never_written(tmp_path: Path) -> None:
    provider = Provider({"chat": {"text": ["Dear Ada Love", "lace"]}, "split": 9})
    with testing.cassette(tmp_path / "t", scrub=["Ada Lovelace"]):
        agent_of(provider).ask("I am Ada Lovelace")
    text = (tmp_path / "t.json").read_text("utf-8")
    assert "Ada Lovelace" not in text
    assert "I am [scrubbed]" in text
    assert len(json.loads(text)["exchanges"]) == 1


def test_a_changed_request_is_refused_with_what_changed(tmp_path: Path) -> None:
    provider = Provider(says("Hello"))
    with testing.cassette(tmp_path / "t", mode="record"):
        agent_of(provider).ask("Hi")
    with (
        pytest.raises(UnmetExpectation, match='recorded "Hi", sent "Ho"'),
        testing.cassette(tmp_path / "t", mode="replay"),
    ):
        agent_of(provider).ask("Ho")
    with (
        pytest.raises(UnmetExpectation, match="has 1 exchange that nobody asked for"),
        testing.cassette(tmp_path / "t"),
    ):
        pass
    with testing.cassette(tmp_path / "t", ignore=["/messages"]):
        assert agent_of(provider).ask("Ho").response == "Hello"
    assert len(provider.journal()) == 1


def test_modes_and_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match='no mode "sometimes"'):
        testing.Cassette(tmp_path / "t", mode="sometimes")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="record it first"):
        testing.Cassette(tmp_path / "t", mode="replay")
    monkeypatch.setenv("LITTLE_GHOST_CASSETTES", "replay")
    with pytest.raises(ConfigurationError, match="record it first"):
        testing.Cassette(tmp_path / "t")


def test_faults_happen_to_the_requests_they_are_for() -> None:
    provider = Provider(says("Hello"), says("Hello"))
    agent = agent_of(provider)
    busy: testing.Fault = {"status": 503, "headers": {"retry-after": 0}}
    with testing.faults(busy, {"drop_after": 60}) as faults:
        assert agent.ask("Hi").response == "Hello"
        assert faults.requests == 3
    with testing.faults({"status": 401, "body": {"error": {"message": "bad key"}}}):
        error = agent.ask("Hi").error
    assert isinstance(error, HTTPError)
    assert error.status == 401
    with (
        pytest.raises(UnmetExpectation, match="planned for request 3, but only 0 requests"),
        testing.faults({"status": 500, "on": 3}),
    ):
        pass
    bad: Any = {"stats": 500}
    with pytest.raises(ValueError, match='no "stats"'):
        testing.Faults(bad)


def test_a_stall_ends_at_the_deadline() -> None:
    provider = Provider(says("Hello"))
    with testing.faults({"stall_after": 0}):
        run = agent_of(provider).ask("Hi", deadline_at=time.time() + 0.2)
    assert run.partial
    assert provider.journal() == []


PLUGIN_TESTS = """
import threading
from little_ghost import Agent

def test_model(scripted_model):
    model = scripted_model("Hello")
    thread = threading.Thread(target=lambda: Agent(model="nowhere:x").ask("Hi"))
    thread.start()
    thread.join()
    assert len(model.requests) == 1

def test_unused(scripted_model):
    scripted_model("Never")

def test_tape(little_ghost_cassette):
    assert little_ghost_cassette.recording
"""


def test_the_plugin_gives_pytest_its_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PLUGIN_TESTS, "utf-8")
    command = ["-m", "pytest", "-q", "-p", "little_ghost.testing.pytest_plugin", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "src"), "PATH": ""},
    )
    assert "3 passed, 1 error" in done.stdout, done.stdout
    assert "UnmetExpectation: the scripted model was asked 0 times" in done.stdout
    assert (tmp_path / "cassettes/test_it/test_tape.json").exists()


def test_a_service_that_is_away_leaves_no_tape(tmp_path: Path) -> None:
    away = Agent(runtime=runtime_for("http://127.0.0.1:9/v1", max_retries=0))
    with testing.cassette(tmp_path / "t"):
        assert away.ask("x").failed
    assert not (tmp_path / "t.json").exists()


def test_a_cassette_that_was_refused_can_be_shown() -> None:
    refused = testing.Cassette.__new__(testing.Cassette)
    assert repr(refused) == "<Cassette '' unopened>"
