"""The result API's response body for one verdict, as it is cached and served.

Pure: no I/O, no clock, no Django. Rendered in one place, so that cache, API and
page cannot disagree.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from audit.core.record import timestamp
from audit.core.vocabulary import DIMENSIONS
from verdicts.core.disclaimer import Comparison

_KEYS: Final = ("verdict", "summary", "breakdown", "strategy", *DIMENSIONS, "analysis")
_STRATEGY_KEYS: Final = ("next_step", "alternative", "tests")
_RANK: Final = {key: rank for rank, key in enumerate(_KEYS + _STRATEGY_KEYS)}


@dataclass(frozen=True, slots=True)
class Rendered:
    body: str
    etag: str


def render(
    *,
    tier: str,
    query: str,
    payload: dict[str, Any],
    cached_at: datetime,
    comparison: Comparison | None,
    refunded_at: datetime | None = None,
) -> Rendered:
    """The requirement document's keys in its order, then ours. An original has no comparison."""
    fields: dict[str, Any] = {
        "tier": tier,
        "query": query,
        "verdict": _ordered(payload),
        "cached_at": timestamp(cached_at),
        "regen": comparison is not None,
        "regen_reason": "cache_miss" if comparison else None,
        "divergence": comparison.as_dict() if comparison else None,
    }
    if refunded_at:
        fields["refunded_at"] = timestamp(refunded_at)
    body = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return Rendered(body, f'"{sha256(body.encode()).hexdigest()[:32]}"')


def fingerprint(payload: dict[str, Any]) -> str:
    """Twelve hex digits that are equal exactly when the payloads are, in any key order."""
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:12]


def _ordered(value: Any) -> Any:
    """The value with its keys in the document's order, unknown keys last.

    Databases do not keep the order of JSON keys, and the same verdict must always
    render to the same bytes.
    """
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (_RANK.get(key, len(_RANK)), key))
        return {key: _ordered(value[key]) for key in keys}
    return value
