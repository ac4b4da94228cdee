"""Entries of the append-only log, built by the product's functions."""

from datetime import UTC, datetime

from audit.core.crosscheck import crosscheck
from audit.core.record import crosscheck_entry, divergence_entry
from tests.support.verdict_payloads import complete

AT = datetime(2026, 4, 16, 12, 30, 0, 42, tzinfo=UTC)


def checked(session_id="cs_test_12345678", *, query="Should I?", kind="original", output=None):
    decision = crosscheck(complete("quick") if output is None else output, "quick")
    return crosscheck_entry(
        session_id=session_id, tier="quick", query=query, decision=decision, kind=kind, at=AT
    )


def compared(session_id="cs_test_12345678"):
    return divergence_entry(
        session_id=session_id, tier="quick", original_verdict="GREEN", regen_verdict="RED", at=AT
    )
