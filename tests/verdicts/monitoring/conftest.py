from collections.abc import Callable, Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from verdicts.monitoring.daily_stats import roll_up_open_days
from verdicts.monitoring.metrics import metrics_cache
from verdicts.results.read_counter import hits

TOKEN = {"Authorization": "Bearer sandbox-service-token"}

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(autouse=True)
def empty_metrics_cache() -> Iterator[None]:
    metrics_cache.clear()
    yield
    metrics_cache.clear()


@pytest.fixture
def scrape(client) -> Callable[[], Samples]:
    """Every sample as Prometheus parses it, with all counts up to date."""

    def read() -> Samples:
        hits.flush()
        roll_up_open_days()
        metrics_cache.clear()
        text = client.get("/metrics", headers=TOKEN).content.decode()
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    return read


@pytest.fixture
def value(scrape) -> Callable[..., float]:
    """The current value of one sample; None if it does not exist."""

    def read(name: str, **labels: str) -> float | None:
        return scrape().get((f"oracle_{name}", frozenset(labels.items())))

    return read
