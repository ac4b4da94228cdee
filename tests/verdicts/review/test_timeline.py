import pytest

from verdicts.models import Verdict
from verdicts.results.cache import evict
from verdicts.review.timeline import timeline

pytestmark = pytest.mark.django_db


def test_everything_is_listed_in_order_without_customer_or_model_text(
    ask, sandbox, delivered, run_jobs
):
    order = delivered("full", "GREEN", query="A secret bakery?")
    evict(order, who="Ada", reason="to see")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    entries = timeline(order)
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)
    events = [entry.what for entry in entries]
    assert set(events[:2]) == {"ordered", "paid"}
    for event, count in {
        "model call": 2,
        "checked": 2,
        "stored": 2,
        "compared": 1,
        "sent": 2,
        "evict": 1,
        "cached": 1,
    }.items():
        assert events.count(event) == count, event
    text = " ".join(entry.detail for entry in entries)
    assert "secret" not in text
    assert not any(v.payload["summary"] in text for v in Verdict.objects.all())
    assert "GREEN to RED: significant" in text


def test_an_unpaid_order_has_one_entry(paid_order):
    order = paid_order()
    order.session_id = order.paid_at = None
    assert [entry.what for entry in timeline(order)] == ["ordered"]
