import pytest

from audit.models import DivergenceEvent
from verdicts.models import CachedVerdict, Verdict
from verdicts.smoke_test.failures import Failed, NotRun
from verdicts.smoke_test.purchase import cache_hit
from verdicts.smoke_test.regeneration import comparison, divergence, notification, regeneration
from verdicts.smoke_test.sandbox_client import Sandbox

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
    with pytest.raises(NotRun, match="stored"):
        check(emailed)


@pytest.mark.django_db(transaction=True)
def test_an_answer_from_the_cache_is_the_same_and_one_that_was_lost_is_not(
    run, delivered, live_server
):
    one = run(live_server.url, seconds=30)
    one.order = delivered("quick")
    one.answer = one.shop.read(one.order.session_id)
    assert cache_hit(one).startswith("the same answer")
    CachedVerdict.objects.all().delete()
    with pytest.raises(Failed, match="saw another one"):
        cache_hit(one)


def test_a_sandbox_that_was_told_to_differ_and_does_not(emailed, ask, sandbox, run_jobs):
    CachedVerdict.objects.all().delete()
    ask(emailed.order.session_id)
    run_jobs()
    emailed.regen = Verdict.objects.get(kind="regen")
    emailed.event = DivergenceEvent.objects.get()
    with pytest.raises(NotRun, match="cannot be made to differ"):
        divergence(emailed)
    with pytest.raises(NotRun, match="there was none"):
        notification(emailed)
    emailed.sandbox = Sandbox(sandbox.url, emailed.deadline)
    with pytest.raises(Failed, match="a significant divergence"):
        divergence(emailed)
