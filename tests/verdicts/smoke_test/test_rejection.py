import pytest

from verdicts.models import CachedVerdict, Delivery, Verdict
from verdicts.smoke_test.failures import Failed, NotRun
from verdicts.smoke_test.rejection import crosscheck, nothing_left_the_house

pytestmark = pytest.mark.django_db


def test_a_live_model_is_not_asked_to_answer_badly(run):
    with pytest.raises(NotRun, match="a live model"):
        crosscheck(run())


def test_whatever_left_the_house_is_named(delivered):
    order = delivered("quick")
    for seen, remove in (
        ("a stored verdict and a cached answer and a verdict email", CachedVerdict.objects.all()),
        ("a stored verdict and a verdict email", Delivery.objects.all()),
        ("a stored verdict", Verdict.objects.all()),
    ):
        with pytest.raises(Failed) as failed:
            nothing_left_the_house(order)
        assert failed.value.seen == seen
        assert "stop selling" in failed.value.todo
        remove.delete()
    nothing_left_the_house(order)
