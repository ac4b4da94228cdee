import pytest

from audit.models import DivergenceEvent
from verdicts.models import CachedVerdict, Verdict
from verdicts.smoke_test.failures import Failed, NotRun
from verdicts.smoke_test.purchase import cache_hit
from verdicts.smoke_test.regeneration import comparison, divergence, notification, regeneration
from verdicts.smoke_test.sandbox_client import SandboxClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def emailed(run, delivered):
    one = run()
    one.order = delivered("quick", "GREEN")
    one.original = Verdict.objects.get()
    return one


def test_there_must_be_a_cached_verdict_to_evict(emailed):
    CachedVerdict.objects.all().delete()
    with pytest.raises(Failed, match="a cached verdict to evict"):
        regeneration(emailed)


def test_a_regeneration_without_comparison_asks_for_workers(emailed, ask):
    CachedVerdict.objects.all().delete()
    ask(emailed.order.session_id)
    emailed.regen = Verdict.objects.get(kind="regen")
    with pytest.raises(Failed) as failed:
        comparison(emailed)
    assert "Q_CLUSTER_NAME=post" in failed.value.todo


@pytest.mark.parametrize("check", [comparison, divergence, notification])
def test_without_a_regeneration_its_checks_are_not_run(emailed, check):
    with pytest.raises(NotRun, match="stored"):
        check(emailed)


@pytest.mark.django_db(transaction=True)
def test_a_cache_hit_is_identical_and_a_miss_is_not(run, delivered, live_server):
    one = run(live_server.url, seconds=30)
    one.order = delivered("quick")
    one.answer = one.client.read(one.order.session_id)
    assert cache_hit(one).startswith("the same response")
    CachedVerdict.objects.all().delete()
    with pytest.raises(Failed, match="saw a different one"):
        cache_hit(one)


def test_an_unchanged_verdict_fails_only_with_the_sandbox(emailed, ask, sandbox, run_jobs):
    CachedVerdict.objects.all().delete()
    ask(emailed.order.session_id)
    run_jobs()
    emailed.regen = Verdict.objects.get(kind="regen")
    emailed.event = DivergenceEvent.objects.get()
    with pytest.raises(NotRun, match="cannot be made to differ"):
        divergence(emailed)
    with pytest.raises(NotRun, match="there was none"):
        notification(emailed)
    emailed.sandbox = SandboxClient(sandbox.url, emailed.deadline)
    with pytest.raises(Failed, match="a significant divergence"):
        divergence(emailed)
