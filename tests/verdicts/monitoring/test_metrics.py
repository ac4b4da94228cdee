"""What Prometheus reads, after the house has done something."""

import re

import pytest
from django.db import OperationalError
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from audit.models import DayCount
from tests.verdicts.monitoring.conftest import TOKEN
from verdicts.monitoring import metrics as module
from verdicts.monitoring.metrics import MetricsCache

pytestmark = pytest.mark.django_db


@pytest.fixture
def busy_house(ask, sandbox, paid_order, missed, run_jobs):
    """A hit, a regeneration that diverged, a rejection, and a read that makes no sense."""
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    ask(order.session_id)
    sandbox.fault("gemini", "contradictory")
    paid_order("full")
    run_jobs()
    ask("nonsense")
    return order


def text(client) -> str:
    return client.get("/metrics", headers=TOKEN).content.decode()


def test_it_is_valid_before_anything_has_happened(client):
    families = {one.name: one for one in text_string_to_metric_families(text(client))}
    assert all(one.documentation for one in families.values())
    assert families["oracle_cache_hits"].samples[0].value == 0
    assert families["oracle_model_call_seconds"].type == "histogram"


def test_every_histogram_is_cumulative_and_ends_in_inf(busy_house, scrape, client):
    scrape()
    for family in text_string_to_metric_families(text(client)):
        series: dict[tuple[str, ...], list[tuple[float, float]]] = {}
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                labels = tuple(v for k, v in sample.labels.items() if k != "le")
                series.setdefault(labels, []).append((float(sample.labels["le"]), sample.value))
        for buckets in series.values():
            assert buckets == sorted(buckets)
            assert [n for _, n in buckets] == sorted(n for _, n in buckets)
            assert buckets[-1][0] == float("inf")


def test_counters_never_fall(busy_house, scrape, ask, paid_order, run_jobs):
    before = scrape()
    paid_order("quick")
    run_jobs()
    ask(busy_house.session_id)
    after = scrape()
    counters = [key for key in before if re.search("_(total|bucket|sum|count)$", key[0])]
    assert counters
    assert [key for key in counters if after.get(key, -1) < before[key]] == []
    assert sum(after[key] for key in counters) > sum(before[key] for key in counters)


def test_days_before_today_count_too(value):
    day = timezone.now().date()
    DayCount.objects.create(day=day.replace(year=day.year - 1), name="hit", count=40)
    DayCount.objects.create(day=day, name="hit", count=2)
    assert value("cache_hits_total") == 42


def test_no_label_holds_anything_of_a_customers(busy_house, scrape, client):
    scrape()
    told = text(client)
    assert busy_house.session_id not in told
    assert "bakery" not in told
    assert "@" not in told
    labels = set(re.findall(r'(\w+)="', told))
    assert labels <= {
        *("kind", "tier", "reason", "outcome", "level", "cause", "direction", "le"),
        *("queue", "state", "status", "log", "gap"),
    }


def test_scrapes_in_quick_succession_ask_the_database_once(django_assert_num_queries, monkeypatch):
    kept = MetricsCache()
    first = kept.text()
    with django_assert_num_queries(0):
        assert kept.text() == first
    monkeypatch.setattr(module, "CACHE_TTL", 0.0)
    kept.clear()
    DayCount.objects.create(day=timezone.now().date(), name="hit", count=1)
    assert kept.text() != first


def test_a_database_that_is_away_is_no_set_of_zeroes(client, monkeypatch):
    def away():
        raise OperationalError

    monkeypatch.setattr(module, "collect_counters", away)
    assert client.get("/metrics", headers=TOKEN).status_code == 503
