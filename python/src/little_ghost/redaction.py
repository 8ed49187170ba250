"""Takes secrets out of values before they are written somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _native

REDACTED = "[REDACTED]"
"""What stands where a secret was."""

_CIRCULAR = "[CIRCULAR]"


class Redactor:
    """Removes what is secret, or looks like it, from values on their way to logs and telemetry.

        Redactor(redactions=[os.environ["API_TOKEN"]])({"user": "Ann", "password": "hunter2"})
        # {"user": "Ann", "password": "[REDACTED]"}

    Values under the names of credentials go, and wherever they are: known literals, bearer tokens and keys of
    well-known shape. That lowers the risk of a leak; it does not prove that nothing is left.
    """

    __slots__ = ("_native", "_stringify_keys")

    def __init__(self, *, redactions: Iterable[str] = (), stringify_keys: bool = False) -> None:
        """Makes a redactor.

        Args:
            redactions: Secrets that are known; those of fewer than eight characters are ignored.
            stringify_keys: Whether dicts of the copy have only str as keys.
        """
        self._native = _native.Redactor(list(redactions))
        self._stringify_keys = stringify_keys

    def __call__(self, value: Any, *, key: object = None) -> Any:
        """A redacted copy of a value; other objects than dicts, lists, tuples and str stay as they are.

        Args:
            value: The value.
            key: The name that it has; all of it goes when that names a credential.
        """
        return self._copy(value, key, frozenset())

    def scrub(self, text: str) -> str:
        """The text without secrets."""
        return self._native.scrub(text.encode("utf-8", "replace").decode())

    @staticmethod
    def is_sensitive_key(key: object) -> bool:
        """Whether a name is that of a credential, such as `api_key`, `accessToken` or `Set-Cookie`."""
        return _native.is_sensitive_key(str(key).encode("utf-8", "replace").decode())

    def _copy(self, value: Any, key: object, above: frozenset[int]) -> Any:
        if key is not None and self.is_sensitive_key(key):
            return REDACTED
        if isinstance(value, str):
            return self.scrub(value)
        if not isinstance(value, (Mapping, list, tuple)):
            return value
        if id(value) in above:
            return _CIRCULAR
        above |= {id(value)}
        if isinstance(value, Mapping):
            return {
                str(name) if self._stringify_keys else name: self._copy(item, name, above)
                for name, item in value.items()
            }
        items = [self._copy(item, None, above) for item in value]
        return items if isinstance(value, list) else tuple(items)

    def __repr__(self) -> str:
        """Never shows the secrets that it knows."""
        return "<Redactor>"
