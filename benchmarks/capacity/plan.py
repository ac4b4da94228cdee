"""Computes required resources from the cost of one order, read and regeneration.

Pure arithmetic. The costs are measured by `benchmarks.capacity`; the assumptions about
customers, the model and the mail server are the constants below.
"""

import math
from typing import NamedTuple

# Assumed, not measured.
PEAK = 4.0  # peak rate as a multiple of the daily average
HITS = 10  # cached reads per verdict
PAGES = 2  # result pages opened per verdict
MISS_SHARE = 0.01  # share of verdicts that are regenerated
MODEL_SECONDS = 8.0  # per model call
MAIL_SECONDS = 0.5  # per email sent
CORE_UTILIZATION = 0.5  # target at the peak
WORKER_UTILIZATION = 0.7  # target at the peak
SECONDS_PER_DAY = 86_400


class Costs(NamedTuple):
    """Names with `_ms` are CPU milliseconds on the measured machine."""

    web_ms: float  # per order: checkout and webhook
    generate_ms: float
    post_ms: float
    database_ms: float
    commits: float
    wal_kb: float
    stored_kb: float
    log_kb: float
    hit_ms: float  # per cached read, in the web process
    page_ms: float  # per result page
    miss_ms: float  # per regeneration, in the web process
    generate_mb: float  # private memory of one generate worker


class Needs(NamedTuple):
    orders_per_second: float
    peak_orders_per_second: float
    model_calls_in_flight: int
    generate_workers: int
    generate_gb: float
    post_workers: int
    worker_cores: float
    web_cores: float
    database_cores: float
    commits_per_second: float
    wal_mb_per_second: float
    emails_per_minute: float
    stored_gb_per_day: float
    log_gb_per_day: float


def needs(per_day: int, costs: Costs) -> Needs:
    """The resources for `per_day` verdicts a day; rates are at the peak unless named average."""
    average = per_day / SECONDS_PER_DAY
    peak = average * PEAK
    web_ms = costs.web_ms + HITS * costs.hit_ms + PAGES * costs.page_ms + MISS_SHARE * costs.miss_ms
    in_flight = peak * MODEL_SECONDS
    generate = math.ceil(peak * (MODEL_SECONDS + costs.generate_ms / 1000) / WORKER_UTILIZATION)
    return Needs(
        orders_per_second=average,
        peak_orders_per_second=peak,
        model_calls_in_flight=math.ceil(in_flight),
        generate_workers=generate,
        generate_gb=generate * costs.generate_mb / 1000,
        post_workers=math.ceil(peak * (MAIL_SECONDS + costs.post_ms / 1000) / WORKER_UTILIZATION),
        worker_cores=peak * (costs.generate_ms + costs.post_ms) / 1000 / CORE_UTILIZATION,
        web_cores=peak * web_ms / 1000 / CORE_UTILIZATION,
        database_cores=peak * costs.database_ms / 1000 / CORE_UTILIZATION,
        commits_per_second=peak * costs.commits,
        wal_mb_per_second=peak * costs.wal_kb / 1000,
        emails_per_minute=peak * 60,
        stored_gb_per_day=per_day * costs.stored_kb / 1e6,
        log_gb_per_day=per_day * costs.log_kb / 1e6,
    )


ROWS = {
    "orders per second, average": "orders_per_second",
    "orders per second, peak": "peak_orders_per_second",
    "concurrent model calls": "model_calls_in_flight",
    "`generate` workers": "generate_workers",
    "memory of `generate` workers, GB": "generate_gb",
    "`post` workers": "post_workers",
    "cores for workers": "worker_cores",
    "cores for web processes": "web_cores",
    "cores for PostgreSQL": "database_cores",
    "commits per second": "commits_per_second",
    "WAL, MB per second": "wal_mb_per_second",
    "emails per minute": "emails_per_minute",
    "rows and indexes, GB per day": "stored_gb_per_day",
    "log, GB per day": "log_gb_per_day",
}


def table(costs: Costs, sizes: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)) -> str:
    """The Markdown table of docs/CAPACITY.md."""
    planned = [needs(size, costs) for size in sizes]
    lines = [f"| Verdicts per day | {' | '.join(f'{size:,}' for size in sizes)} |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    for title, name in ROWS.items():
        cells = " | ".join(format_value(getattr(one, name)) for one in planned)
        lines.append(f"| {title} | {cells} |")
    return "\n".join(lines)


def format_value(value: float) -> str:
    if isinstance(value, int) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
