"""Credentials that are found where the vendors' own tools look for them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from . import _native
from .pump import waiter


@dataclass(frozen=True, slots=True)
class AwsKeyPair:
    """Keys for AWS.

    Attributes:
        access_key_id: Which keys they are.
        secret_access_key: What signs requests.
        session_token: What temporary keys are sent with.
        expires_at: When they stop working, in UTC; None when nobody said.
    """

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(repr=False, default=None)
    expires_at: datetime | None = None


class AwsCredentials:
    """Finds AWS credentials where the vendor's own tools do, without an SDK.

    It looks in environment variables, in profiles of the shared files (keys, roles, SSO sign-ins,
    `credential_process`), for a web identity, next to a container of ECS or EKS, and on an EC2
    instance. Bedrock looks there by itself; make one to choose a profile, or to sign requests to
    other services. Threads and tasks may share it: keys are remembered, and renewed 5 minutes
    before they expire, once for everybody who waits.

        keys = AwsCredentials(profile="billing")()
        keys = await AwsCredentials().fetch()
    """

    __slots__ = ("_environment", "_native")

    def __init__(
        self,
        *,
        profile: str | None = None,
        credentials_file: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Chooses where to look.

        Args:
            profile: Goes over `AWS_PROFILE`, and over keys in the environment.
            credentials_file: Goes over `AWS_SHARED_CREDENTIALS_FILE`.
            environment: The variables, with `HOME`; `os.environ` by default.
        """
        self._environment = environment
        path = None if credentials_file is None else os.fspath(credentials_file)
        self._native = _native.AwsCredentialChain(profile, path)

    def __call__(self, *, timeout: float | None = None) -> AwsKeyPair:
        """The first complete set of keys. Waits in the calling thread.

        Args:
            timeout: Seconds to wait at most.

        Raises:
            CredentialError: There are none; the message says what was tried.
            HTTPError: A service that is set up does not answer.
            DeadlineExceededError: It took too long.
        """
        return _keys(_answer(self._begin(timeout)))

    async def fetch(self, *, timeout: float | None = None) -> AwsKeyPair:
        """As calling it, while the event loop goes on."""
        return _keys(await _answer_async(self._begin(timeout)))

    @property
    def region(self) -> str | None:
        """`AWS_REGION`, `AWS_DEFAULT_REGION`, or the region of the profile."""
        return self._native.region(self._variables())

    def _begin(self, timeout: float | None) -> _native.Job:
        return self._native.find(self._variables(), _deadline(timeout))

    def _variables(self) -> dict[str, str]:
        return _present(self._environment, _native.AwsCredentialChain.variables())


class GoogleCredentials:
    """Finds access tokens where Google's own libraries do.

    It reads the file that `GOOGLE_APPLICATION_CREDENTIALS` names or that gcloud wrote, of a service
    account or an authorized user, and else asks the metadata server. Vertex AI looks there by
    itself; make one for other services. Threads and tasks may share it: a token is remembered, and
    renewed a minute before it expires, once for everybody who waits.

        token = GoogleCredentials()()
        token = await GoogleCredentials().fetch()
    """

    __slots__ = ("_environment", "_native")

    def __init__(self, *, environment: Mapping[str, str] | None = None) -> None:
        """Chooses where to look.

        Args:
            environment: The variables, with `HOME`; `os.environ` by default.
        """
        self._environment = environment
        self._native = _native.GoogleTokenChain()

    def __call__(self, *, timeout: float | None = None) -> str:
        """A token that works now. Waits in the calling thread.

        Args:
            timeout: Seconds to wait at most.

        Raises:
            CredentialError: There is none; the message says what was tried.
            HTTPError: A service that is set up does not answer.
            DeadlineExceededError: It took too long.
        """
        return _token(_answer(self._begin(timeout)))

    async def fetch(self, *, timeout: float | None = None) -> str:
        """As calling it, while the event loop goes on."""
        return _token(await _answer_async(self._begin(timeout)))

    def _begin(self, timeout: float | None) -> _native.Job:
        variables = _present(self._environment, _native.GoogleTokenChain.variables())
        return self._native.find(variables, _deadline(timeout))


def _present(environment: Mapping[str, str] | None, names: list[str]) -> dict[str, str]:
    source = os.environ if environment is None else environment
    return {name: source[name] for name in names if name in source}


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.time() + timeout


def _keys(found: dict[str, Any]) -> AwsKeyPair:
    expires_at = found.pop("expires_at")
    moment = None if expires_at is None else datetime.fromtimestamp(expires_at, timezone.utc)
    return AwsKeyPair(**found, expires_at=moment)


def _token(found: dict[str, Any]) -> str:
    token: str = found["token"]
    return token


def _answer(job: _native.Job) -> dict[str, Any]:
    waiter(job.fd)(None)
    found: dict[str, Any] = job.take()
    return found


async def _answer_async(job: _native.Job) -> dict[str, Any]:
    import asyncio

    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(job.fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(job.fd)
    found: dict[str, Any] = job.take()
    return found
