"""The text that Prometheus scrapes from a site with some activity."""

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
def active_site(ask, sandbox, paid_order, missed, run_jobs):
    """A cache hit, a regeneration that diverged, a rejection and a malformed read."""
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


def test_it_is_valid_on_an_empty_database(client):
    families = {family.name: family for family in text_string_to_metric_families(text(client))}
    assert all(family.documentation for family in families.values())
    assert families["oracle_cache_hits"].samples[0].value == 0
    assert families["oracle_model_call_seconds"].type == "histogram"


def test_every_histogram_is_cumulative_and_ends_in_inf(active_site, scrape, client):
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


def test_counters_never_fall(active_site, scrape, ask, paid_order, run_jobs):
    before = scrape()
    paid_order("quick")
    run_jobs()
    ask(active_site.session_id)
    after = scrape()
    counters = [key for key in before if re.search("_(total|bucket|sum|count)$", key[0])]
    assert counters
    assert [key for key in counters if after.get(key, -1) < before[key]] == []
    assert sum(after[key] for key in counters) > sum(before[key] for key in counters)


def test_counters_include_past_days(value):
    day = timezone.now().date()
    DayCount.objects.create(day=day.replace(year=day.year - 1), name="hit", count=40)
    DayCount.objects.create(day=day, name="hit", count=2)
    assert value("cache_hits_total") == 42


def test_labels_contain_no_personal_data(active_site, scrape, client):
    scrape()
    scraped = text(client)
    assert active_site.session_id not in scraped
    assert "bakery" not in scraped
    assert "@" not in scraped
    labels = set(re.findall(r'(\w+)="', scraped))
    assert labels <= {
        *("kind", "tier", "reason", "outcome", "level", "cause", "direction", "le"),
        *("queue", "state", "status", "log"),
    }


def test_frequent_scrapes_query_the_database_once(django_assert_num_queries, monkeypatch):
    cache = MetricsCache()
    first = cache.text()
    with django_assert_num_queries(0):
        assert cache.text() == first
    monkeypatch.setattr(module, "CACHE_TTL", 0.0)
    cache.clear()
    DayCount.objects.create(day=timezone.now().date(), name="hit", count=1)
    assert cache.text() != first


def test_an_unreachable_database_is_503(client, monkeypatch):
    def unreachable():
        raise OperationalError

    monkeypatch.setattr(module, "collect_counters", unreachable)
    assert client.get("/metrics", headers=TOKEN).status_code == 503
