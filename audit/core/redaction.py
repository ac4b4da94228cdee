"""What a service log may say of an entry.

Pure: no I/O, no clock, no Django. A session id is the key to a verdict and a
query is the customer's own, so neither is ever in a service log. A field is
shown because it is listed here: a new one stays hidden until someone decides.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

SHOWN: Final = (
    "event",
    "tier",
    "verdict_label",
    "coherence_score",
    "threshold",
    "phi",
    "approved",
    "flags",
    "crosscheck_reason",
    "original_verdict",
    "regen_verdict",
    "top_level_match",
    "divergence_level",
    "timestamp",
    "kind",
    "skipped",
)


def short_hash(session_id: str) -> str:
    """Twelve hex digits that stand for a session: enough to follow it, useless as a key."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def redacted(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry without personal data; whose it is the log's line says by itself."""
    return {key: entry[key] for key in SHOWN if key in entry}
