"""Fault injection: a queue of rules, and which of them applies to a request.

The oldest matching rule is applied, at most one per request. Which requests fall
into a `share` is deterministic: a repeated drill affects the same ones.
"""

import math
from dataclasses import asdict, dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, Final

LABELS: Final = ("GREEN", "AMBER", "RED", "NULL")

# Faults of the transport, available for all three APIs.
TRANSPORT: Final = (
    "rate_limited",  # 429
    "error",  # 500
    "bad_gateway",  # 502
    "unavailable",  # 503
    "slow",  # answers `seconds` later
    "dribble",  # a byte at a time, endlessly
    "hang_up",  # closes the connection without handling the request
    "hang_up_after",  # handles the request, then closes the connection without a response
    "slow_after",  # handles the request, then answers `seconds` later
    "broken_body",  # 200, but the JSON is cut off
)
KNOWN: Final[dict[str, tuple[str, ...]]] = {
    "gemini": (
        *TRANSPORT,
        "malformed",
        "truncated",
        "contradictory",
        "missing_field",
        "empty",
        "blocked",
        "max_tokens",
        "safety",
        "recitation",
        "not_found",
        "bad_key",
        "bad_request",
        "verdict",
        "variance",
    ),
    "stripe": (*TRANSPORT, "unauthorized"),
    "graph": (*TRANSPORT, "unauthorized"),
    "webhook": ("duplicate", "delay", "reorder", "drop", "bad_signature", "stale_signature"),
}


class UnknownFault(ValueError):
    """An invalid rule; the message says what is wrong with it."""


@dataclass(slots=True)
class Rule:
    id: int
    target: str
    fault: str
    times: int | None = 1  # None: until it is removed
    share: float = 1.0
    match: str = ""  # substring of path, prompt, form, mail or event
    seconds: float | None = None
    label: str | None = None
    field: str | None = None
    mark: str | None = None  # added to the corrupted text, so that tests can search for it
    seen: int = 0  # requests that matched
    hits: int = 0  # requests that got the fault

    def delay(self, default: float) -> float:
        return default if self.seconds is None else self.seconds


def in_share(share: float, *key: object) -> bool:
    """Whether this key is within the `share`, by a hash of the key alone."""
    digest = sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64 < share


class Faults:
    """The queue of rules. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rules: list[Rule] = []
        self._last = 0

    def add(self, wanted: dict[str, Any]) -> Rule:
        checked = _validated(wanted)
        with self._lock:
            self._last += 1
            rule = Rule(id=self._last, **checked)
            self._rules.append(rule)
        return rule

    def take(self, target: str, text: str) -> Rule | None:
        """The rule that applies to this request, counted as a hit; None if none applies."""
        with self._lock:
            for rule in self._rules:
                if rule.target != target or rule.match not in text:
                    continue
                rule.seen += 1
                if not in_share(rule.share, rule.id, rule.seen):
                    continue
                rule.hits += 1
                if rule.times is not None and rule.hits >= rule.times:
                    self._rules.remove(rule)
                return rule
        return None

    def remove(self, number: int) -> bool:
        """Remove one rule by its id. False if it does not exist or was used up."""
        with self._lock:
            kept = [rule for rule in self._rules if rule.id != number]
            found = len(kept) < len(self._rules)
            self._rules = kept
        return found

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def as_list(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(rule) for rule in self._rules]


def _validated(wanted: dict[str, Any]) -> dict[str, Any]:
    """The fields of a rule, after checking types and ranges."""
    target, fault = wanted.get("target"), wanted.get("fault")
    if not isinstance(target, str) or target not in KNOWN:
        raise UnknownFault(f"target must be one of {', '.join(KNOWN)}.")
    if fault not in KNOWN[target]:
        raise UnknownFault(f"{target} knows these faults: {', '.join(KNOWN[target])}.")
    unknown = set(wanted) - set(_CHECKS) - {"target", "fault"}
    if unknown:
        raise UnknownFault(f"A rule has no {', '.join(sorted(unknown))}.")
    for name, (is_valid, sentence) in _CHECKS.items():
        if name in wanted and not is_valid(wanted[name]):
            raise UnknownFault(f"{name} must be {sentence}.")
    if fault == "verdict" and not wanted.get("label"):
        raise UnknownFault("The fault verdict needs a label.")
    return wanted


def _is_number(value: object, low: float, high: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and low <= value <= high


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and value >= 1)


_CHECKS: Final = {
    "times": (_is_count, "a number from 1, or null for without end"),
    "share": (lambda value: _is_number(value, 0, 1), "a number from 0 to 1"),
    "match": (lambda value: isinstance(value, str), "a text"),
    "seconds": (lambda value: _is_number(value, 0, 3_600), "a number from 0 to 3600"),
    "label": (lambda value: value in LABELS, f"one of {', '.join(LABELS)}"),
    "field": (lambda value: isinstance(value, str), "the name of a field of the verdict"),
    "mark": (lambda value: isinstance(value, str), "a text"),
}
