import pytest

from verdicts.models import CachedVerdict, Verdict
from verdicts.smoke.made_again import comparison, divergence, notification, regeneration
from verdicts.smoke.outcomes import Failed, NotRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def emailed(run, delivered):
    one = run()
    one.order = delivered("quick", "GREEN")
    one.original = Verdict.objects.get()
    return one


def test_there_must_be_something_to_lose(emailed):
    CachedVerdict.objects.all().delete()
    with pytest.raises(Failed, match="a cached answer to remove"):
        regeneration(emailed)


def test_a_regeneration_that_nobody_compares_lacks_workers(emailed, ask):
    CachedVerdict.objects.all().delete()
    ask(emailed.order.session_id)
    emailed.regen = Verdict.objects.get(kind="regen")
    with pytest.raises(Failed) as failed:
        comparison(emailed)
    assert "Q_CLUSTER_NAME=post" in failed.value.todo


@pytest.mark.parametrize("check", [comparison, divergence, notification])
def test_what_was_not_made_again_is_neither_compared_nor_told(emailed, check):
    with pytest.raises(NotRun, match="sealed"):
        check(emailed)
