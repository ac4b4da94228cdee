import json
from datetime import UTC, datetime

from tests.support.verdict_payloads import complete
from verdicts.core.disclaimer import Comparison
from verdicts.core.response_body import fingerprint, render

AT = datetime(2026, 4, 16, 12, 30, tzinfo=UTC)


def rendered(**changes):
    fields = {
        "tier": "quick",
        "query": "Bäckerei?",
        "payload": complete("quick"),
        "cached_at": AT,
        "comparison": None,
    }
    return render(**{**fields, **changes})


def test_the_body_has_the_documents_keys():
    assert json.loads(rendered().body) == {
        "tier": "quick",
        "query": "Bäckerei?",
        "verdict": complete("quick"),
        "cached_at": "2026-04-16T12:30:00.000000Z",
        "regen": False,
        "regen_reason": None,
        "divergence": None,
    }


def test_a_regeneration_has_a_reason_and_the_emailed_label():
    body = json.loads(rendered(comparison=Comparison("RED")).body)
    assert (body["regen"], body["regen_reason"]) == (True, "cache_miss")
    assert body["divergence"]["emailed_verdict"] == "RED"


def test_the_etag_changes_with_the_body():
    assert rendered().etag == rendered().etag
    assert rendered().etag != rendered(refunded_at=AT).etag


def test_the_key_order_is_independent_of_the_database():
    payload = {"zeal": {"b": 1, "a": [{"d": 1, "c": 2}]}, **complete("strategy")}
    reordered = json.loads(json.dumps(payload, sort_keys=True))
    assert rendered(payload=payload) == rendered(payload=reordered)
    body = json.loads(rendered(payload=reordered).body)
    assert list(body["verdict"]) == ["verdict", "summary", "breakdown", "strategy", "zeal"]
    assert body["verdict"] == payload


def test_the_fingerprint_ignores_key_order():
    payload = complete("full")
    reordered = dict(reversed(payload.items()))
    assert fingerprint(payload) == fingerprint(reordered)
    reordered["summary"] += "!"
    assert fingerprint(payload) != fingerprint(reordered)
