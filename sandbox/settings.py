"""Settings, given at start-up and changeable while the sandbox runs."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit

WEBHOOK_SECRET = "whsec_sandbox"  # noqa: S105 - public on purpose


class BadSetting(ValueError):
    """An invalid setting; the message says what is expected."""


@dataclass(slots=True)
class Settings:
    webhook_url: str | None = None  # None: events are stored, not sent
    webhook_secret: str = WEBHOOK_SECRET
    latency: float = 0.0  # seconds that the model takes to answer
    rate: float = 0.0  # rate limit of the model in requests per second; 0: none
    variance: float = 0.0  # share of answers with a different verdict, as from another replica
    token_seconds: int = 3_599  # lifetime of Graph's access tokens

    def __post_init__(self) -> None:
        self.update({})

    def update(self, wanted: dict[str, Any]) -> None:
        """Set all of the values, or none and raise BadSetting."""
        values = {**asdict(self), **wanted}
        unknown = set(values) - {each.name for each in fields(self)}
        if unknown:
            raise BadSetting(f"There is no setting {', '.join(sorted(unknown))}.")
        _check(values)
        for name, value in values.items():
            setattr(self, name, value)

    def copy_from(self, other: "Settings") -> None:
        self.update(asdict(other))


def _check(values: dict[str, Any]) -> None:
    url = values["webhook_url"]
    if url is not None and not _is_http(url):
        raise BadSetting("webhook_url must be an http:// address or null.")
    if not isinstance(values["webhook_secret"], str) or not values["webhook_secret"]:
        raise BadSetting("webhook_secret must be a text.")
    if not _within(values["latency"], 600):
        raise BadSetting("latency must be a number of seconds from 0 to 600.")
    if not _within(values["rate"], 1000):
        raise BadSetting("rate must be a number from 0 to 1000.")
    if not _within(values["variance"], 1):
        raise BadSetting("variance must be a number from 0 to 1.")
    if type(values["token_seconds"]) is not int or values["token_seconds"] < 1:
        raise BadSetting("token_seconds must be a whole number from 1.")


def _within(value: object, high: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= high


def _is_http(url: object) -> bool:
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        return parts.scheme == "http" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
