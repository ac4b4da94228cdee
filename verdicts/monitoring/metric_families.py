"""Counter and gauge families with the site's name prefix."""

from collections.abc import Iterable
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

Samples = Iterable[tuple[tuple[str, ...], float]]  # label values and the value
F = TypeVar("F", CounterMetricFamily, GaugeMetricFamily)


def counter(name: str, documentation: str, samples: Samples, *labels: str) -> Metric:
    return _add(CounterMetricFamily(f"oracle_{name}", documentation, labels=labels), samples)


def gauge(name: str, documentation: str, samples: Samples, *labels: str) -> Metric:
    return _add(GaugeMetricFamily(f"oracle_{name}", documentation, labels=labels), samples)


def _add(family: F, samples: Samples) -> F:
    for values, value in samples:
        family.add_metric(values, value)
    return family
