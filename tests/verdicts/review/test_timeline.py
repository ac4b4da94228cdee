import pytest

from verdicts.models import Verdict
from verdicts.results.cache import evict
from verdicts.review.timeline import timeline

pytestmark = pytest.mark.django_db


def test_the_whole_history_is_told_in_order_and_without_anybodys_text(
    ask, sandbox, delivered, run_jobs
):
    order = delivered("full", "GREEN", query="A secret bakery?")
    evict(order, who="Ada", reason="to see")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    entries = timeline(order)
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)
    words = [entry.what for entry in entries]
    assert set(words[:2]) == {"ordered", "paid"}
    for word, count in {
        "model call": 2,
        "checked": 2,
        "stored": 2,
        "compared": 1,
        "sent": 2,
        "evict": 1,
        "cached": 1,
    }.items():
        assert words.count(word) == count, word
    text = " ".join(entry.detail for entry in entries)
    assert "secret" not in text
    assert not any(v.payload["summary"] in text for v in Verdict.objects.all())
    assert "GREEN to RED: significant" in text


def test_an_order_that_was_never_paid_has_a_short_one(paid_order):
    order = paid_order()
    order.session_id = order.paid_at = None
    assert [entry.what for entry in timeline(order)] == ["ordered"]
