"""The exception classes, and errors as they cross from the engine."""

import pickle

import pytest

import little_ghost
from little_ghost import (
    CancelledError,
    ConfigurationError,
    CredentialError,
    Error,
    HTTPError,
    OutputLimitError,
    ProviderError,
    ToolError,
    _native,
    errors,
)


def test_every_kind_of_the_engine_has_its_class_with_the_same_parent() -> None:
    kinds = _native.error_kinds()
    assert len(kinds) > 30
    for name, parent in kinds:
        if name in ("ArgumentError", "HostError"):
            continue
        cls = errors.error_class(name)
        assert cls.__name__ == name
        assert getattr(little_ghost, name) is cls
        assert cls.__bases__[0].__name__ == (parent or "Exception"), name


def test_every_class_is_a_kind_of_the_engine() -> None:
    kinds = {name for name, _ in _native.error_kinds()}
    for name in dir(errors):
        value = getattr(errors, name)
        if isinstance(value, type) and issubclass(value, Error):
            assert name in kinds


def test_an_invalid_argument_is_a_value_error() -> None:
    assert errors.error_class("ArgumentError") is ValueError
    assert isinstance(
        errors.error_from_value({"kind": "ArgumentError", "message": "no"}), ValueError
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ToolError("no"), "ToolError"),
        (type("OrderError", (ToolError,), {})("no"), "ToolError"),
        (CredentialError("no"), "CredentialError"),
        (ValueError("no"), "HostError"),
        (KeyError("no"), "HostError"),
        (TimeoutError("no"), "HostError"),
        (type("ToolError", (Exception,), {})("no"), "HostError"),
    ],
)
def test_an_exception_counts_as_its_nearest_class(error: Exception, kind: str) -> None:
    assert errors.error_kind(error) == kind


def test_facts_become_attributes() -> None:
    value = {"kind": "HTTPError", "message": "no", "status": 429, "body": "slow", "code": "rate"}
    error = errors.error_from_value(value)
    assert isinstance(error, HTTPError)
    assert (error.status, error.body, error.code) == (429, "slow", "rate")
    assert OutputLimitError("cut").status is None
    assert isinstance(error, ProviderError)


def test_errors_can_be_pickled() -> None:
    error = HTTPError("no", status=500, body="x")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.status, copy.body) == ("no", 500, "x")


def test_the_original_exception_is_found_by_its_id() -> None:
    original = OSError("k")
    value = {"kind": "HostError", "message": "k", "host_id": 1, "host_class": "OSError"}
    assert errors.error_from_value(value, {1: original}.get) is original
    assert str(errors.error_from_value(value)) == "OSError: k"
    # The one class of Python that the engine has a name for.
    missing = errors.error_from_value({**value, "host_id": None, "host_class": "KeyError"})
    assert type(missing) is KeyError


def test_an_exception_without_a_usable_message_can_still_be_described() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("never")

    assert errors.describe_exception(Broken(), 7) == ("HostError", 7, "Broken", "")
    assert errors.describe_exception(OSError("\udc80"), 1)[3] == "?"


def test_a_panic_in_the_engine_is_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        with pytest.raises(Error, match="provoked by a test"):
            _native.provoke_panic()
    capfd.readouterr()


def test_cancellation_is_not_asyncios() -> None:
    import asyncio

    assert not issubclass(CancelledError, asyncio.CancelledError)
    assert issubclass(CancelledError, Exception)
    assert not issubclass(ConfigurationError, ValueError)
