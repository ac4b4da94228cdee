"""Builds the entries of oracle_log.jsonl, and serialises them.

Pure: no I/O, no clock, no Django. The caller supplies the time, and chains and
appends the line. The requirement document's keys come first, in its order; ours
(`kind`, `skipped`, later the chain's) follow. `smoke` is present only if true.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from audit.core.crosscheck import Decision
from audit.core.divergence import classify
from audit.core.tmm import PHI
from audit.core.vocabulary import Kind, TierName
from audit.core.wilson import Interval

PREVIEW_LENGTH: Final = 80


def crosscheck_entry(
    *,
    session_id: str,
    tier: TierName,
    query: str,
    decision: Decision,
    kind: Kind,
    at: datetime,
    smoke: bool = False,
) -> dict[str, Any]:
    """The `tmm_crosscheck` entry, for every check, approved or not."""
    return {
        "event": "tmm_crosscheck",
        "session_id": session_id,
        "tier": tier,
        "query_preview": query[:PREVIEW_LENGTH],
        "verdict_label": decision.verdict_label,
        "coherence_score": decision.coherence_score,
        "threshold": decision.threshold,
        "phi": PHI,
        "approved": decision.approved,
        "flags": list(decision.flags),
        "crosscheck_reason": decision.crosscheck_reason,
        "timestamp": timestamp(at),
        "kind": kind,
        **_smoke(smoke),
    }


def divergence_entry(
    *,
    session_id: str,
    tier: TierName,
    original_verdict: str,
    regen_verdict: str,
    at: datetime,
    smoke: bool = False,
) -> dict[str, Any]:
    """The `regen_divergence_check` entry; without an original it is `skipped` (R11)."""
    level = classify(original_verdict, regen_verdict)
    return {
        "event": "regen_divergence_check",
        "session_id": session_id,
        "tier": tier,
        "original_verdict": original_verdict,
        "regen_verdict": regen_verdict,
        "top_level_match": None if level is None else level == "none",
        "divergence_level": level,
        "timestamp": timestamp(at),
        "kind": "regen",
        "skipped": level is None,
        **_smoke(smoke),
    }


def escalation_entry(
    *, checked: int, diverged: int, rate: float, interval: Interval, days: int, at: datetime
) -> dict[str, Any]:
    """The `infrastructure_variance` entry: the model's variance is too high (R14)."""
    return {
        "event": "infrastructure_variance",
        "checked": checked,
        "diverged": diverged,
        "rate": rate,
        "interval": list(interval),
        "days": days,
        "timestamp": timestamp(at),
    }


def action_entry(
    *, session_id: str, action: str, who: str, reason: str, at: datetime
) -> dict[str, Any]:
    """The `staff_action` entry: what a member of staff did about a session, and why."""
    return {
        "event": "staff_action",
        "session_id": session_id,
        "action": action,
        "who": who,
        "reason": reason,
        "timestamp": timestamp(at),
    }


def _smoke(smoke: bool) -> dict[str, bool]:
    """Absent from customers' entries, so that their format never changed."""
    return {"smoke": True} if smoke else {}


def timestamp(at: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that lines sort as text."""
    if at.tzinfo is None:
        raise ValueError("the time must have a time zone")
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def canonical_line(entry: Mapping[str, Any]) -> str:
    """The entry as one line of ASCII JSON, newline included; equal entries give equal bytes.

    With everything beyond ASCII escaped, no character can be mistaken for a line break.
    """
    return json.dumps(entry, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"
