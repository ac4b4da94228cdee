"""What a line of the log costs, as ratios to plain appends of the same bytes in the same run.

A line is chained to the one before it, under a lock that any process may hold,
in a file that is opened anew since rotation may have renamed it. One plain
append does none of that, the other opens anew too. All are timed in turns, and
of each its best round counts. Then the whole way, on SQLite: rows into the file.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command

from audit.core.chain import GENESIS, commitment, seal
from audit.core.crosscheck import crosscheck
from audit.core.record import crosscheck_entry
from audit.log.file import LogFile, locked
from benchmarks.judgement import corpus
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell

LINES = 500
ROUNDS = 10
ROWS = 5_000
SALT = "ab" * 16
ABOUT = """
A line is chained to the one before it, under a lock that any process may hold, in a file that is
opened anew since rotation may have renamed it. One plain append does none of that, the other opens
anew too. In turns, best rounds; then the whole way from a commit to the marked row.
""".strip()


def entries(count: int) -> list[dict[str, Any]]:
    at = datetime.now(UTC)
    return [
        crosscheck_entry(
            session_id=f"cs_test_{number:058}",
            tier="full",
            query="Should I open a second bakery on Queen Street East before the summer? " * 2,
            decision=crosscheck(payload, "full"),
            kind="original",
            at=at,
        )
        for number, payload in enumerate(corpus(count))
    ]


def chained(path: Path, batches: list[list[dict[str, Any]]], *, sync: bool) -> None:
    """Each batch as the writer appends it: lock, torn tail, last hash, seal, one write."""
    for batch in batches:
        with locked(path, 1) as held, LogFile(path) as log:
            assert held
            tail = log.cut_torn_tail()
            prev, lines = tail["hash"] if tail else GENESIS, []
            for entry in batch:
                promise = commitment(SALT, entry["query_preview"])
                line, prev = seal(
                    entry, entry_id="0" * 32, salt=SALT, commitment=promise, prev=prev
                )
                lines.append(line)
            log.append("".join(lines).encode(), sync=sync)


def plain(path: Path, lines: list[bytes]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    for line in lines:
        os.write(fd, line)
    os.close(fd)


def plain_reopened(path: Path, lines: list[bytes]) -> None:
    for line in lines:
        plain(path, [line])


def files() -> tuple[Table, list[Limit], str]:
    items = entries(LINES)
    one_by_one = [[entry] for entry in items]
    together = [items[start : start + 100] for start in range(0, LINES, 100)]
    with tempfile.TemporaryDirectory(prefix="oracle-bench-") as name, Progress("the log") as shown:
        folder = Path(name)
        chained(folder / "sample", one_by_one, sync=False)
        lines = (folder / "sample").read_bytes().splitlines(keepends=True)
        work: dict[str, Callable[[Path], None]] = {
            "plain append": lambda path: plain(path, lines),
            "plain, opened anew": lambda path: plain_reopened(path, lines),
            "chained": lambda path: chained(path, one_by_one, sync=False),
            "chained, synced": lambda path: chained(path, one_by_one, sync=True),
            "chained, synced, by 100": lambda path: chained(path, together, sync=True),
        }
        best = dict.fromkeys(work, float("inf"))
        for turn in range(ROUNDS):
            shown.share(turn, ROUNDS)
            for title, write in work.items():
                start = time.perf_counter()
                write(folder / title)
                best[title] = min(best[title], time.perf_counter() - start)
    rows = [[title, f"{LINES / seconds:,.0f} lines/s"] for title, seconds in best.items()]
    table = Table([f"lines of {len(lines[-1])} bytes", ""], rows)
    # Set from measurements (54 to 67, 16 to 21, 15 to 20) to catch a regression: no aim in itself.
    wanted = (
        ("chained", "plain append", 100.0),
        ("chained", "plain, opened anew", 30.0),
        ("chained, synced, by 100", "plain append", 40.0),
    )
    limits = [Limit(f"{a} / {b}", best[a] / best[b], most) for a, b, most in wanted]
    # Not a limit: what a disk needs to be sure is the disk's own.
    waited = (best["chained, synced"] - best["chained"]) / LINES
    return table, limits, f"Waiting for the disk: {waited * 1e6:,.0f} µs a line."


def whole_way() -> Table:
    """From the caller's commit to the marked row; needs a database of its own."""
    from audit.log import log  # noqa: PLC0415 - Django is set up by now
    from audit.models import LogEntry  # noqa: PLC0415 - likewise

    call_command("migrate", verbosity=0)
    items, rows = entries(LINES), []
    for sync in (False, True):
        settings.ORACLE_LOG_SYNC = sync
        start = time.perf_counter()
        for entry in items:
            log.append(entry)
        each = (time.perf_counter() - start) / LINES
        LogEntry.objects.bulk_create(
            LogEntry(host=settings.ORACLE_LOG_NAME, entry='{"event":"benchmark"}')
            for _ in range(ROWS)
        )
        start = time.perf_counter()
        assert log.sweep() == ROWS
        swept = ROWS / (time.perf_counter() - start)
        name = "synced" if sync else "not synced"
        rows.append([name, f"{each * 1e3:.2f} ms", f"{swept:,.0f} rows/s"])
    return Table(["the whole way, SQLite", "append to mark", "in a sweep"], rows)


def run() -> Section:
    table, limits, disk = files()
    with tempfile.TemporaryDirectory(prefix="oracle-bench-") as name:
        os.environ["DATABASE_URL"] = f"sqlite:///{name}/bench.sqlite3"
        os.environ["ORACLE_LOG_PATH"] = f"{name}/oracle_log.jsonl"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
        django.setup()
        tables = [table, whole_way()]
    return Section("The log", ABOUT, tables, limits, notes=[disk])


if __name__ == "__main__":
    sys.exit(tell(run()))
