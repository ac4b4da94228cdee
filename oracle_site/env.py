"""Typed reading of environment variables, each declared where it is read.

A value that does not fit stops the start with a sentence that names the
variable and what it takes. An empty value counts as not set. `declared` lists
what was read, so that a test can hold the table in docs/SETTINGS.md to it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
# Refused, not ignored: a limit or policy that an operator has set must not fall back to a default.
RENAMED = {"ORACLE_REGENERATIONS": "ORACLE_MAX_REGENERATIONS"}
RENAMED_VALUES = {("ORACLE_CACHE_MISS", "sealed"): "stored"}


class Variable(NamedTuple):
    """One environment variable; `default` is the text to print in a table."""

    name: str
    kind: str
    default: str
    about: str


class Environment:
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.declared: list[Variable] = []
        for old, new in RENAMED.items():
            if values.get(old, "").strip():
                raise ImproperlyConfigured(f"{old} is now called {new}: rename it.")

    def text(self, name: str, about: str, *, default: str = "") -> str:
        return self._read(name, "text", default, about) or default

    def needed(self, when: str, name: str, about: str, *, default: str = "") -> str:
        """Text that must be set where `when` names a reason; elsewhere it has a default."""
        value = self._read(name, "text", "", about)
        if value or not when:
            return value or default
        raise ImproperlyConfigured(f"{name} must be set {when}: {about}.")

    def words(self, name: str, about: str, *, default: str = "") -> list[str]:
        """Several values, with commas between them."""
        value = self._read(name, "list", default, about) or default
        return [word.strip() for word in value.split(",") if word.strip()]

    def choice(self, name: str, about: str, *, default: str, among: tuple[str, ...]) -> str:
        value = self._read(name, " or ".join(among), default, about) or default
        if value in among:
            return value
        if new := RENAMED_VALUES.get((name, value)):
            raise ImproperlyConfigured(f"{name}={value} is now called {name}={new}: change it.")
        raise ImproperlyConfigured(f"{name} must be {' or '.join(among)}, not {value!r}.")

    def secret(self, name: str, about: str, *, needed: bool, at_least: int, default: str) -> str:
        """A secret of some length, which has a default only where it is not `needed`."""
        value = self._read(name, "text", "", about)
        if not needed:
            return value or default
        if len(value) >= at_least:
            return value
        raise ImproperlyConfigured(f"{name} must be set when DEBUG is off: {about}.")

    def email(self, name: str, about: str, *, default: str) -> str:
        value = self._read(name, "email address", default, about) or default
        try:
            validate_email(value)
        except ValidationError:
            raise ImproperlyConfigured(f"{name} must be an email address, not {value!r}.") from None
        return value

    def flag(self, name: str, about: str, *, default: bool) -> bool:
        value = self._read(name, "flag", "1" if default else "0", about)
        if not value:
            return default
        if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")

    def integer(self, name: str, about: str, *, default: int, at_least: int, at_most: int) -> int:
        value = self._read(name, f"{at_least} to {at_most}", str(default), about)
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            number = at_least - 1
        if at_least <= number <= at_most:
            return number
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {at_least} to {at_most}, not {value!r}."
        )

    def number(
        self, name: str, about: str, *, default: float, at_least: float, at_most: float
    ) -> float:
        value = self._read(name, f"{at_least:g} to {at_most:g}", str(default), about)
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            number = at_least - 1
        if at_least <= number <= at_most:  # which nan is not
            return number
        raise ImproperlyConfigured(
            f"{name} must be a number from {at_least:g} to {at_most:g}, not {value!r}."
        )

    def address(self, name: str, about: str, *, default: str) -> str:
        """An http or https address without a path, and without the slash at its end."""
        value = (self._read(name, "address", default, about) or default).rstrip("/")
        if _is_origin(value):
            return value
        # One with a password in it is not repeated.
        told = f", not {value!r}" if "@" not in value else ", without a name or password"
        raise ImproperlyConfigured(
            f"{name} must be an address such as https://oracle.example{told}."
        )

    def database(self, name: str, about: str, *, default: str, root: Path) -> dict[str, Any]:
        """Django's settings for a sqlite:/// or postgres:// address.

        sqlite:///a.db lies under `root`, sqlite:////srv/a.db where it says.
        """
        value = self._read(name, "address", default, about) or default
        # The value is never repeated: it may hold a password.
        refusal = ImproperlyConfigured(
            f"{name} must look like sqlite:///oracle.sqlite3 or postgres://user:password@host/name "
            "(in a password, / # ? @ and % are written %2F %23 %3F %40 and %25)."
        )
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:
            raise refusal from None
        if parts.scheme == "sqlite" and not parts.netloc and len(parts.path) > 1:
            return _sqlite(root / unquote(parts.path[1:]))
        if parts.scheme in ("postgres", "postgresql") and parts.path.strip("/"):
            options = dict(parse_qsl(parts.query))
            return {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": unquote(parts.path[1:]),
                "USER": unquote(parts.username or ""),
                "PASSWORD": unquote(parts.password or ""),
                "HOST": options.pop("host", "") or parts.hostname or "",
                "PORT": str(port or ""),
                "CONN_MAX_AGE": 600,
                "CONN_HEALTH_CHECKS": True,
                "OPTIONS": options,
            }
        raise refusal

    def _read(self, name: str, kind: str, default: str, about: str) -> str:
        self.declared.append(Variable(name, kind, default, about))
        return self._values.get(name, "").strip()


def _is_origin(value: str) -> bool:
    """Scheme, host and perhaps a port, and nothing else."""
    try:
        parts = urlsplit(value)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return False
    whole = f"{parts.scheme}://{host}{port}"
    return parts.scheme in ("http", "https") and bool(host) and whole == value.lower()


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": 600,  # opening it again takes longer than most requests
        "OPTIONS": {
            # A writer takes its lock at the start, so that it waits for another
            # instead of failing half-way.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
