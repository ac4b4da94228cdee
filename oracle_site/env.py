"""Typed reading of environment variables, each declared where it is read.

An invalid value raises ImproperlyConfigured with a sentence that names the variable and
the values it accepts. An empty value counts as not set. `declared` lists every variable
that was read; docs/SETTINGS.md is generated from it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
# Rejected, not ignored: a limit or policy that an operator set must not fall back to the default.
RENAMED = {"ORACLE_REGENERATIONS": "ORACLE_MAX_REGENERATIONS"}
RENAMED_VALUES = {("ORACLE_CACHE_MISS", "sealed"): "stored"}


class Variable(NamedTuple):
    """One environment variable; `default` is its text in the settings table."""

    name: str
    kind: str
    default: str
    description: str


class Environment:
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.declared: list[Variable] = []
        for old, new in RENAMED.items():
            if values.get(old, "").strip():
                raise ImproperlyConfigured(f"{old} was renamed to {new}: set {new} instead.")

    def text(self, name: str, description: str, *, default: str = "") -> str:
        return self._read(name, "text", default, description) or default

    def required_text(self, when: str, name: str, description: str, *, default: str = "") -> str:
        """Required if `when` gives a reason, such as "for a live site"; optional if it is empty."""
        value = self._read(name, "text", "", description)
        if value or not when:
            return value or default
        raise ImproperlyConfigured(f"{name} must be set {when}: {description}.")

    def comma_separated(self, name: str, description: str, *, default: str = "") -> list[str]:
        value = self._read(name, "list", default, description) or default
        return [item.strip() for item in value.split(",") if item.strip()]

    def choice(self, name: str, description: str, *, default: str, choices: tuple[str, ...]) -> str:
        value = self._read(name, " or ".join(choices), default, description) or default
        if value in choices:
            return value
        if new := RENAMED_VALUES.get((name, value)):
            raise ImproperlyConfigured(
                f"{name}={value} was renamed to {name}={new}: set {name}={new} instead."
            )
        raise ImproperlyConfigured(f"{name} must be {' or '.join(choices)}, not {value!r}.")

    def secret(
        self, name: str, description: str, *, required: bool, min_length: int, default: str
    ) -> str:
        """The default applies, and a short value is accepted, only if it is not `required`."""
        value = self._read(name, "text", "", description)
        if not required:
            return value or default
        if len(value) >= min_length:
            return value
        raise ImproperlyConfigured(f"{name} must be set when DEBUG is off: {description}.")

    def email(self, name: str, description: str, *, default: str) -> str:
        value = self._read(name, "email address", default, description) or default
        try:
            validate_email(value)
        except ValidationError:
            raise ImproperlyConfigured(f"{name} must be an email address, not {value!r}.") from None
        return value

    def flag(self, name: str, description: str, *, default: bool) -> bool:
        value = self._read(name, "flag", "1" if default else "0", description)
        if not value:
            return default
        if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")

    def integer(
        self, name: str, description: str, *, default: int, minimum: int, maximum: int
    ) -> int:
        value = self._read(name, f"{minimum} to {maximum}", str(default), description)
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            number = minimum - 1
        if minimum <= number <= maximum:
            return number
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {minimum} to {maximum}, not {value!r}."
        )

    def number(
        self, name: str, description: str, *, default: float, minimum: float, maximum: float
    ) -> float:
        value = self._read(name, f"{minimum:g} to {maximum:g}", str(default), description)
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            number = minimum - 1
        if minimum <= number <= maximum:  # false for NaN
            return number
        raise ImproperlyConfigured(
            f"{name} must be a number from {minimum:g} to {maximum:g}, not {value!r}."
        )

    def url(self, name: str, description: str, *, default: str) -> str:
        """An http or https origin; a trailing slash is removed."""
        value = (self._read(name, "URL", default, description) or default).rstrip("/")
        if _is_origin(value):
            return value
        # A value with a password in it is not repeated.
        detail = f", not {value!r}" if "@" not in value else ", without a user name or password"
        raise ImproperlyConfigured(f"{name} must be a URL such as https://oracle.example{detail}.")

    def database(self, name: str, description: str, *, default: str, root: Path) -> dict[str, Any]:
        """Django's DATABASES entry for a sqlite:/// or postgres:// URL.

        sqlite:///a.db is relative to `root`, sqlite:////srv/a.db is absolute.
        """
        value = self._read(name, "URL", default, description) or default
        # The value is never repeated: it may contain a password.
        invalid = ImproperlyConfigured(
            f"{name} must look like sqlite:///oracle.sqlite3 or postgres://user:password@host/name "
            "(in a password, write / # ? @ and % as %2F %23 %3F %40 and %25)."
        )
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:
            raise invalid from None
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
        raise invalid

    def _read(self, name: str, kind: str, default: str, description: str) -> str:
        self.declared.append(Variable(name, kind, default, description))
        return self._values.get(name, "").strip()


def _is_origin(value: str) -> bool:
    """Only scheme, host and optionally a port."""
    try:
        parts = urlsplit(value)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return False
    origin = f"{parts.scheme}://{host}{port}"
    return parts.scheme in ("http", "https") and bool(host) and origin == value.lower()


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": 600,  # reconnecting takes longer than most requests
        "OPTIONS": {
            # A writer locks at BEGIN, so it waits for another writer instead of failing at its
            # first write with "database is locked".
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
