import pytest

from verdicts.models import CachedVerdict, Delivery, Verdict
from verdicts.smoke_test.failures import Failed, NotRun
from verdicts.smoke_test.rejection import crosscheck, require_nothing_released

pytestmark = pytest.mark.django_db


def test_it_is_not_run_with_a_live_model(run):
    with pytest.raises(NotRun, match="a live model"):
        crosscheck(run())


def test_everything_released_is_named(delivered):
    order = delivered("quick")
    for seen, remove in (
        ("a stored verdict and a cached verdict and a verdict email", CachedVerdict.objects.all()),
        ("a stored verdict and a verdict email", Delivery.objects.all()),
        ("a stored verdict", Verdict.objects.all()),
    ):
        with pytest.raises(Failed) as failed:
            require_nothing_released(order)
        assert failed.value.seen == seen
        assert "stop selling" in failed.value.todo
        remove.delete()
    require_nothing_released(order)
