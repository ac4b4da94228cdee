"""Fills the site's database and log, which must both be empty."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection

from audit.models import DayCount
from benchmarks.dataset import load_postgresql, load_sqlite, order_rows, verdict_rows
from benchmarks.dataset.history import OrderHistory
from benchmarks.dataset.log_rows import log_lines
from benchmarks.dataset.row_set import RowSet, copy_escaped
from benchmarks.dataset.samples import samples
from verdicts.models import Order
from verdicts.monitoring.daily_stats import roll_up
from verdicts.monitoring.stats_compaction import compact_old_days

ReportProgress = Callable[[int, int], None]  # done, total


class NotEmpty(Exception):
    """The database has orders or the log exists: they would be overwritten."""


def fill(
    orders: int,
    *,
    days: int = 90,
    history: int = 0,
    report_progress: ReportProgress = lambda _done, _total: None,
) -> None:
    """Spread `orders` evenly over the last `days`. Raises NotEmpty.

    Daily statistics cover `history` days, if that is more than `days`.
    """
    path: Path = settings.ORACLE_LOG_PATH
    if Order.objects.exists() or path.exists():
        raise NotEmpty("The database or the log is not empty. Use a new database and a new log.")
    staff, _ = User.objects.get_or_create(username="ada", defaults={"is_staff": True})
    until = datetime.now(UTC).replace(tzinfo=None)
    is_postgresql = connection.vendor == "postgresql"
    escape = copy_escaped if is_postgresql else str
    order_history = OrderHistory(orders, days=days, until=until, samples=samples(escape))
    tables = [
        verdict_rows.cached(order_history),
        log_lines(order_history, escape, path, settings.ORACLE_LOG_NAME),
        verdict_rows.verdicts(order_history),
        verdict_rows.calls(order_history),
        verdict_rows.crosschecks(order_history),
        order_rows.events(order_history),
        order_rows.orders(order_history),
        order_rows.deliveries(order_history),
        verdict_rows.divergences(order_history),
        order_rows.cases(order_history, staff.pk),
        order_rows.actions(order_history),
    ]
    _write(tables, order_history.numbers, report_progress)
    _write_daily_stats(until, days, history)


def _write(tables: list[list[RowSet]], numbers: range, report_progress: ReportProgress) -> None:
    total, done = len(numbers) * sum(map(len, tables)), 0

    def count(rows: int) -> None:
        nonlocal done
        done += rows
        report_progress(done, total)

    connection.close()
    if connection.vendor == "postgresql":
        load_postgresql.write(load_postgresql.connection_parameters(), tables, numbers, count)
        models = [row_sets[0].model for row_sets in tables]
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)
    else:
        load_sqlite.write(connection.settings_dict["NAME"], tables, numbers, count)


def _write_daily_stats(until: datetime, days: int, history: int) -> None:
    """As the sweep writes them; days before the first order repeat the first full day."""
    today = until.date()
    for back in range(days + 1, -1, -1):
        roll_up(today - timedelta(days=back))
    pattern = list(DayCount.objects.filter(day=today - timedelta(days=days - 1)))
    for back in range(days + 2, history):
        day = today - timedelta(days=back)
        copies = [
            DayCount(day=day, name=one.name, tier=one.tier, key=one.key, count=one.count)
            for one in pattern
        ]
        DayCount.objects.bulk_create(copies)
    compact_old_days()
