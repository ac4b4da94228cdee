"""From what one order, read or regeneration costs to what a house of some size needs.

Pure arithmetic. The costs come from `benchmarks.capacity`; what is assumed
about customers, the model and the mail server stands here, once.
"""

import math
from typing import NamedTuple

# Assumed, not measured.
PEAK = 4.0  # the busiest moment, as a multiple of the day's average
HITS = 10  # cached answers read per verdict
PAGES = 2  # result pages opened per verdict
MISS_SHARE = 0.01  # of the verdicts, how many are made again
MODEL_SECONDS = 8.0  # one call to the model
MAIL_SECONDS = 0.5  # one email handed over
BUSY = 0.5  # how busy a core may be at the peak
WORKER_BUSY = 0.7  # how busy a worker may be at the peak
DAY = 86_400


class Costs(NamedTuple):
    """Of processor time in milliseconds where it is named so, on the machine that was measured."""

    web_ms: float  # of one order: checkout and webhook
    generate_ms: float
    post_ms: float
    database_ms: float
    commits: float
    wal_kb: float
    stored_kb: float
    log_kb: float
    hit_ms: float  # of one cached answer, in the web process
    page_ms: float  # of one result page
    miss_ms: float  # of one regeneration, in the web process
    generate_mb: float  # memory of one worker of generate


class Needs(NamedTuple):
    orders_per_second: float
    at_peak: float
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
    """What `per_day` verdicts a day need, at their peak where it matters."""
    average = per_day / DAY
    peak = average * PEAK
    web_ms = costs.web_ms + HITS * costs.hit_ms + PAGES * costs.page_ms + MISS_SHARE * costs.miss_ms
    in_flight = peak * MODEL_SECONDS
    generate = math.ceil(peak * (MODEL_SECONDS + costs.generate_ms / 1000) / WORKER_BUSY)
    return Needs(
        orders_per_second=average,
        at_peak=peak,
        model_calls_in_flight=math.ceil(in_flight),
        generate_workers=generate,
        generate_gb=generate * costs.generate_mb / 1000,
        post_workers=math.ceil(peak * (MAIL_SECONDS + costs.post_ms / 1000) / WORKER_BUSY),
        worker_cores=peak * (costs.generate_ms + costs.post_ms) / 1000 / BUSY,
        web_cores=peak * web_ms / 1000 / BUSY,
        database_cores=peak * costs.database_ms / 1000 / BUSY,
        commits_per_second=peak * costs.commits,
        wal_mb_per_second=peak * costs.wal_kb / 1000,
        emails_per_minute=peak * 60,
        stored_gb_per_day=per_day * costs.stored_kb / 1e6,
        log_gb_per_day=per_day * costs.log_kb / 1e6,
    )


ROWS = {
    "orders a second, average": "orders_per_second",
    "orders a second, peak": "at_peak",
    "calls to the model under way": "model_calls_in_flight",
    "`generate` workers": "generate_workers",
    "their memory, GB": "generate_gb",
    "`post` workers": "post_workers",
    "cores for workers": "worker_cores",
    "cores for web processes": "web_cores",
    "cores for PostgreSQL": "database_cores",
    "commits a second": "commits_per_second",
    "WAL, MB a second": "wal_mb_per_second",
    "emails a minute": "emails_per_minute",
    "rows and indexes, GB a day": "stored_gb_per_day",
    "log, GB a day": "log_gb_per_day",
}


def table(costs: Costs, sizes: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)) -> str:
    """The Markdown table of docs/CAPACITY.md."""
    planned = [needs(size, costs) for size in sizes]
    lines = [f"| Verdicts a day | {' | '.join(f'{size:,}' for size in sizes)} |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    for title, name in ROWS.items():
        cells = " | ".join(figure(getattr(one, name)) for one in planned)
        lines.append(f"| {title} | {cells} |")
    return "\n".join(lines)


def figure(value: float) -> str:
    if isinstance(value, int) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
