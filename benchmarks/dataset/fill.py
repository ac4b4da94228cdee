"""Fill the site's database, which must have no orders yet, and the log beside it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection

from audit.models import DayCount
from benchmarks.dataset import into_postgresql, into_sqlite, judged, sold
from benchmarks.dataset.ideas import ideas
from benchmarks.dataset.lines import lines
from benchmarks.dataset.past import Past
from benchmarks.dataset.shape import Shape, escaped
from verdicts.models import Order
from verdicts.monitoring.daily_stats import roll_up
from verdicts.monitoring.stats_compaction import compact_old_days

Tick = Callable[[int, int], None]


class NotEmpty(Exception):
    """There is something already: it would be lost."""


def fill(
    orders: int, *, days: int = 90, history: int = 0, tick: Tick = lambda _done, _all: None
) -> None:
    """`orders` over the last `days`; the figures go back for `history` days, where that is more.

    `tick` hears how much is done. Raises NotEmpty.
    """
    path: Path = settings.ORACLE_LOG_PATH
    if Order.objects.exists() or path.exists():
        raise NotEmpty("The database or the log is not empty: fill new ones only.")
    staff, _ = User.objects.get_or_create(username="ada", defaults={"is_staff": True})
    until = datetime.now(UTC).replace(tzinfo=None)
    is_postgresql = connection.vendor == "postgresql"
    escape = escaped if is_postgresql else str
    past = Past(orders, days=days, until=until, ideas=ideas(escape))
    tables = [
        judged.cached(past),
        lines(past, escape, path, settings.ORACLE_LOG_NAME),
        judged.verdicts(past),
        judged.calls(past),
        judged.crosschecks(past),
        sold.events(past),
        sold.orders(past),
        sold.deliveries(past),
        judged.divergences(past),
        sold.cases(past, staff.pk),
        sold.actions(past),
    ]
    _write(tables, past.numbers, tick)
    _count_days(until, days, history)


def _write(tables: list[list[Shape]], numbers: range, tick: Tick) -> None:
    total, done = len(numbers) * sum(map(len, tables)), 0

    def count(some: int) -> None:
        nonlocal done
        done += some
        tick(done, total)

    connection.close()
    if connection.vendor == "postgresql":
        into_postgresql.write(into_postgresql.parameters(), tables, numbers, count)
        models = [shapes[0].model for shapes in tables]
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)
    else:
        into_sqlite.write(connection.settings_dict["NAME"], tables, numbers, count)


def _count_days(until: datetime, days: int, history: int) -> None:
    """As the sweep has, day by day; before the first order, days like its first whole one."""
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
