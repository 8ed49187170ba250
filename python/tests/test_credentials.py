"""Credentials, as Python applications ask for them."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import pytest
from loopback import Recorded, loopback

from little_ghost import (
    AwsCredentials,
    CredentialError,
    DeadlineExceededError,
    GoogleCredentials,
)

PAIR = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush-secret"}


def container(_: Recorded) -> tuple[int, str]:
    keys = {"AccessKeyId": "BOX", "SecretAccessKey": "hush-box", "Token": "hush-token"}
    return 200, json.dumps({**keys, "Expiration": "2099-01-01T00:00:00Z"})


def user_file(home: Path, url: str) -> dict[str, str]:
    path = home / "user.json"
    user = {
        "type": "authorized_user",
        "client_id": "client",
        "client_secret": "hush-client",
        "refresh_token": "hush-refresh",
        "token_uri": url,
    }
    path.write_text(json.dumps(user))
    return {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}


def test_keys_of_an_environment_which_may_change() -> None:
    environment = {**PAIR, "AWS_SESSION_TOKEN": "hush-token", "AWS_REGION": "eu-central-1"}
    credentials = AwsCredentials(environment=environment)
    keys = credentials()
    assert (keys.access_key_id, keys.secret_access_key) == ("AKID", "hush-secret")
    assert keys.session_token == "hush-token"
    assert keys.expires_at is None
    assert "hush" not in repr(keys) and "AKID" not in repr(keys)
    assert "hush" not in repr(credentials)
    assert credentials.region == "eu-central-1"
    environment["AWS_ACCESS_KEY_ID"] = "OTHER"
    assert credentials().access_key_id == "OTHER"


def test_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in PAIR.items():
        monkeypatch.setenv(name, value)
    credentials = AwsCredentials()
    assert credentials().access_key_id == "AKID"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LATER")
    assert credentials().access_key_id == "LATER"


def test_a_profile_and_a_file_may_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("[work]\naws_access_key_id = WORK\naws_secret_access_key = hush\n")
    chosen = AwsCredentials(profile="work", credentials_file=path, environment=PAIR)
    assert chosen().access_key_id == "WORK"


def test_threads_share_one_request() -> None:
    with loopback(container) as server, ThreadPoolExecutor(10) as pool:
        environment = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{server.url}/keys"}
        credentials = AwsCredentials(environment=environment)
        found = list(pool.map(lambda _: credentials(), range(10)))
        assert {keys.access_key_id for keys in found} == {"BOX"}
        assert found[0].expires_at == datetime(2099, 1, 1, tzinfo=timezone.utc)
        assert [request.path for request in server.requests] == ["/keys"]


async def test_tasks_share_one_request_and_may_be_cancelled(tmp_path: Path) -> None:
    asked, release = threading.Event(), threading.Event()

    def answer(_: Recorded) -> tuple[int, str]:
        asked.set()
        release.wait(60)
        return 200, json.dumps({"access_token": "hush-token", "expires_in": 600})

    with loopback(answer) as server:
        credentials = GoogleCredentials(environment=user_file(tmp_path, server.url))
        given_up = asyncio.create_task(credentials.fetch())
        waiting = [asyncio.create_task(credentials.fetch()) for _ in range(5)]
        await asyncio.to_thread(asked.wait, 60)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        with pytest.raises(DeadlineExceededError):
            await credentials.fetch(timeout=0.01)
        release.set()
        assert await asyncio.gather(*waiting) == ["hush-token"] * 5
        assert credentials() == "hush-token"
        assert len(server.requests) == 1


def test_nothing_found_says_what_was_tried() -> None:
    with pytest.raises(CredentialError, match="AWS_EC2_METADATA_DISABLED is true"):
        AwsCredentials(environment={"AWS_EC2_METADATA_DISABLED": "true"})()
    with pytest.raises(CredentialError, match="NO_GCE_CHECK is true"):
        GoogleCredentials(environment={"NO_GCE_CHECK": "true"})()
