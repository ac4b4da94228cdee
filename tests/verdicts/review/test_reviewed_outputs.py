import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from audit.core.crosscheck import crosscheck
from audit.models import CrosscheckLog
from verdicts.models import Case
from verdicts.review.cases import close
from verdicts.review.reviewed_outputs import reviewed_outputs

pytestmark = pytest.mark.django_db


def review(order, output: str, outcome: Case.Outcome) -> CrosscheckLog:
    row = CrosscheckLog.record(
        crosscheck(output, order.tier),
        output,
        session_id=order.session_id,
        kind="original",
        tier=order.tier,
    )
    case = Case.objects.create(kind=Case.Kind.REJECTED, order=order, crosscheck=row)
    who, _ = User.objects.get_or_create(username="ada")
    close(case, outcome, who=who, note="because")
    return row


def test_reviewed_rejections_are_a_labelled_data_set(paid_order):
    review(paid_order("full"), "{}", Case.Outcome.CORRECT)
    review(paid_order("quick"), "Grün \ud800 \n", Case.Outcome.FALSE)
    assert list(reviewed_outputs()) == [("full", "{}", False), ("quick", "Grün \ud800 \n", True)]


def test_outputs_without_a_review_or_evidence_are_left_out(paid_order):
    review(paid_order("full"), "{}", Case.Outcome.REFUNDED)
    purged = review(paid_order("full"), "{}", Case.Outcome.CORRECT)
    CrosscheckLog.objects.filter(pk=purged.pk).update(
        evidence="", evidence_purged_at=timezone.now()
    )
    assert list(reviewed_outputs()) == []
