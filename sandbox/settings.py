"""What can be set at the start and changed while the sandbox runs."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit

WEBHOOK_SECRET = "whsec_sandbox"  # noqa: S105 - known to everybody on purpose


class BadSetting(ValueError):
    """A setting that cannot be taken; the message says what is expected."""


@dataclass(slots=True)
class Settings:
    webhook_url: str | None = None  # None: events are kept, not sent
    webhook_secret: str = WEBHOOK_SECRET
    latency: float = 0.0  # seconds that the model takes to answer
    rate: float = 0.0  # requests a second that the model takes; 0: any number
    variance: float = 0.0  # share of answers that come from 'another replica'
    token_seconds: int = 3_599  # how long Graph's tokens live

    def __post_init__(self) -> None:
        self.change({})

    def change(self, wanted: dict[str, Any]) -> None:
        """Take all of the values, or none and BadSetting."""
        values = {**asdict(self), **wanted}
        strange = set(values) - {each.name for each in fields(self)}
        if strange:
            raise BadSetting(f"There is no setting {', '.join(sorted(strange))}.")
        _check(values)
        for name, value in values.items():
            setattr(self, name, value)

    def become(self, other: "Settings") -> None:
        self.change(asdict(other))


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
