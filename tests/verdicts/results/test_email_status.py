import pytest

from tests.support.verdict_payloads import complete
from verdicts.core.disclaimer import Comparison
from verdicts.models import Delivery, Verdict
from verdicts.results.email_status import email_status

pytestmark = pytest.mark.django_db
State = Delivery.State


def answer(comparison: Comparison | None = None, label: str = "GREEN") -> dict:
    told = comparison.as_dict() if comparison else None
    return {"verdict": complete("quick", label), "divergence": told}


@pytest.mark.parametrize(
    ("email", "name"),
    [
        (Delivery(state=State.PENDING), "sending"),
        (Delivery(state=State.SENDING), "sending"),
        (Delivery(state=State.SENT), "emailed"),
        (Delivery(state=State.FAILED), "unsent"),
        (Delivery(state=State.UNCERTAIN), "unsent"),
        (None, "unsent"),
    ],
)
def test_an_originals_email_status_is_that_of_its_email(email, name):
    assert email_status(answer(), order_id=1, email=email).name == name


@pytest.mark.parametrize(
    ("comparison", "name"),
    [
        (Comparison("GREEN"), "comparing"),
        (Comparison("UNKNOWN"), "unrecorded"),
        (Comparison("UNKNOWN", "skipped"), "unrecorded"),
        (Comparison("GREEN", "checked", "minor"), "differs"),
        (Comparison("GREEN", "checked", "significant"), "differs"),
        (Comparison("GREEN", "checked", "none"), "same-verdict"),
    ],
)
def test_a_regenerations_email_status_is_that_of_its_comparison(comparison, name):
    assert email_status(answer(comparison), order_id=1, email=None).name == name


def test_the_same_text_is_distinguished_from_the_same_verdict(sandbox, paid_order, run_jobs):
    order = paid_order("quick")
    run_jobs()
    original = Verdict.objects.get()
    same = Comparison(original.label, "checked", "none")
    again = {"verdict": original.payload, "divergence": same.as_dict()}
    stands = email_status(again, order_id=order.pk, email=None)
    assert (stands.name, stands.emailed) == ("same-text", original.label)
    again["verdict"] = {**original.payload, "summary": "In other words."}
    assert email_status(again, order_id=order.pk, email=None).name == "same-verdict"
