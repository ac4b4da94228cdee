"""The answer of the result API for one verdict, as it is cached and served.

Pure: no I/O, no clock, no Django. One function renders it, so that the cache,
the API and the page cannot say different things.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from audit.core.record import timestamp


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
    regen: bool,
    divergence: dict[str, Any] | None,
) -> Rendered:
    """The document's keys in its order, then `divergence`: null for an original."""
    body = json.dumps(
        {
            "tier": tier,
            "query": query,
            "verdict": payload,
            "cached_at": timestamp(cached_at),
            "regen": regen,
            "regen_reason": "cache_miss" if regen else None,
            "divergence": divergence,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return Rendered(body, f'"{sha256(body.encode()).hexdigest()[:32]}"')


def fingerprint(payload: dict[str, Any]) -> str:
    """Twelve hex digits that are the same exactly when the verdict's text is."""
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:12]
