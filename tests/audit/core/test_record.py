import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from audit.core.crosscheck import crosscheck
from audit.core.record import canonical_line, crosscheck_entry, divergence_entry, timestamp
from audit.core.tmm import OMEGA, PHI
from tests.support.verdict_payloads import complete

AT = datetime(2026, 4, 16, 12, 30, 0, 42, tzinfo=UTC)


def entry_for(output: object, query: str = "Should I?") -> dict:
    return crosscheck_entry(
        session_id="cs_test_12345678",
        tier="quick",
        query=query,
        decision=crosscheck(output, "quick"),
        kind="original",
        at=AT,
    )


def test_the_crosscheck_entry_has_the_documents_fields():
    assert list(entry_for(complete("quick")).items()) == [
        ("event", "tmm_crosscheck"),
        ("session_id", "cs_test_12345678"),
        ("tier", "quick"),
        ("query_preview", "Should I?"),
        ("verdict_label", "GREEN"),
        ("coherence_score", 1.0),
        ("threshold", OMEGA),
        ("phi", PHI),
        ("approved", True),
        ("flags", []),
        ("crosscheck_reason", "pass"),
        ("timestamp", "2026-04-16T12:30:00.000042Z"),
        ("kind", "original"),
    ]


def test_a_rejection_has_the_same_fields():
    entry = entry_for("no JSON at all")
    assert list(entry) == list(entry_for(complete("quick")))
    assert not entry["approved"]
    assert entry["verdict_label"] == "UNKNOWN"
    assert entry["flags"] == ["degenerate_manifold", "malformed_json"]


def test_the_preview_is_the_first_80_characters():
    assert entry_for("", query="🍁" * 200)["query_preview"] == "🍁" * 80


def divergence(original: str, regen: str) -> dict:
    return divergence_entry(
        session_id="cs_test_12345678",
        tier="full",
        original_verdict=original,
        regen_verdict=regen,
        at=AT,
    )


def test_the_divergence_entry_has_the_documents_fields():
    assert list(divergence("GREEN", "RED").items()) == [
        ("event", "regen_divergence_check"),
        ("session_id", "cs_test_12345678"),
        ("tier", "full"),
        ("original_verdict", "GREEN"),
        ("regen_verdict", "RED"),
        ("top_level_match", False),
        ("divergence_level", "significant"),
        ("timestamp", "2026-04-16T12:30:00.000042Z"),
        ("kind", "regen"),
        ("skipped", False),
    ]


def test_equal_labels_match():
    assert divergence("NULL", "NULL")["top_level_match"] is True


def test_without_an_original_the_check_is_skipped():
    entry = divergence("UNKNOWN", "GREEN")
    assert entry["top_level_match"] is None
    assert entry["divergence_level"] is None
    assert entry["skipped"] is True


def test_an_entry_is_one_line_of_ascii_and_round_trips():
    entry = entry_for(complete("quick"), query="line\nbreaks \u2028 and 判断")
    line = canonical_line(entry)
    assert line.isascii()
    assert line.splitlines() == [line.removesuffix("\n")]
    assert json.loads(line) == entry


def test_the_serialisation_is_canonical():
    assert canonical_line({"b": "é", "a": [1.0, None]}) == '{"b":"\\u00e9","a":[1.0,null]}\n'


def test_nan_is_rejected():
    with pytest.raises(ValueError, match="JSON"):
        canonical_line({"score": float("nan")})


def test_times_are_utc_and_sort_as_text():
    toronto = timezone(timedelta(hours=-4))
    assert timestamp(datetime(2026, 4, 16, 8, 30, tzinfo=toronto)) == "2026-04-16T12:30:00.000000Z"
    with pytest.raises(ValueError, match="time zone"):
        timestamp(datetime(2026, 4, 16))  # noqa: DTZ001 - under test
