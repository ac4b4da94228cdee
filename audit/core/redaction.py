"""Redacts a log entry for the service log.

Pure: no I/O, no clock, no Django. A session id gives access to a verdict and a
query is personal data, so neither may appear in the service log. This is an
allow-list: a new field stays hidden until it is added here.
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
    """Twelve hex digits that identify a session in the log, but give no access to it."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def redacted(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry without personal data. The service log adds the session's short hash itself."""
    return {key: entry[key] for key in SHOWN if key in entry}
