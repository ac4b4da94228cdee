"""Time to append a log line, as a ratio to plain appends of the same bytes in the same run.

The log chains each line to the previous one, holds a lock shared between processes and
reopens the file every time, because rotation may have renamed it. One plain append does
none of this; the other one reopens the file too. Rounds are interleaved and the best of
each counts. Finally the whole path on SQLite, from the table to the file.
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
from benchmarks.gate import corpus
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report

LINES = 500
ROUNDS = 10
ROWS = 5_000
SALT = "ab" * 16
DESCRIPTION = """
The log chains each line to the previous one, holds a lock shared between processes and reopens the
file every time, because rotation may have renamed it. One plain append does none of this; the other
one reopens the file too. Rounds are interleaved and the best of each counts. End to end is from the
commit of a row until it is marked as written.
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
    """Append each batch as the log writer does: lock, cut a torn tail, seal, write once."""
    for batch in batches:
        with locked(path, 1) as locked_now, LogFile(path) as log:
            assert locked_now
            tail = log.cut_torn_tail()
            prev, lines = tail["hash"] if tail else GENESIS, []
            for entry in batch:
                line, prev = seal(
                    entry,
                    entry_id="0" * 32,
                    salt=SALT,
                    commitment=commitment(SALT, entry["query_preview"]),
                    prev=prev,
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
    single = [[entry] for entry in items]
    batches = [items[start : start + 100] for start in range(0, LINES, 100)]
    with (
        tempfile.TemporaryDirectory(prefix="oracle-bench-") as name,
        ProgressBar("log appends") as bar,
    ):
        folder = Path(name)
        chained(folder / "sample", single, sync=False)
        lines = (folder / "sample").read_bytes().splitlines(keepends=True)
        writers: dict[str, Callable[[Path], None]] = {
            "plain append": lambda path: plain(path, lines),
            "plain, reopened": lambda path: plain_reopened(path, lines),
            "chained": lambda path: chained(path, single, sync=False),
            "chained, synced": lambda path: chained(path, single, sync=True),
            "chained, synced, batches of 100": lambda path: chained(path, batches, sync=True),
        }
        best = dict.fromkeys(writers, float("inf"))
        for round_number in range(ROUNDS):
            bar.update(round_number, ROUNDS)
            for title, write in writers.items():
                start = time.perf_counter()
                write(folder / title)
                best[title] = min(best[title], time.perf_counter() - start)
    rows = [[title, f"{LINES / seconds:,.0f} lines/s"] for title, seconds in best.items()]
    table = Table([f"lines of {len(lines[-1])} bytes", ""], rows)
    # Regression guards, set above the measured ratios (54 to 67, 16 to 21, 15 to 20).
    bounds = (
        ("chained", "plain append", 100.0),
        ("chained", "plain, reopened", 30.0),
        ("chained, synced, batches of 100", "plain append", 40.0),
    )
    limits = [Limit(f"{a} / {b}", best[a] / best[b], maximum) for a, b, maximum in bounds]
    # Only a note: the time of fsync is a property of the disk.
    fsync = (best["chained, synced"] - best["chained"]) / LINES
    return table, limits, f"Waiting for fsync: {fsync * 1e6:,.0f} µs per line."


def end_to_end() -> Table:
    """From the caller's commit to the row marked as written; needs a database of its own."""
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
    return Table(["end to end, SQLite", "one append", "sweep"], rows)


def run() -> Section:
    table, limits, fsync_note = files()
    with tempfile.TemporaryDirectory(prefix="oracle-bench-") as name:
        os.environ["DATABASE_URL"] = f"sqlite:///{name}/bench.sqlite3"
        os.environ["ORACLE_LOG_PATH"] = f"{name}/oracle_log.jsonl"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
        django.setup()
        tables = [table, end_to_end()]
    return Section("The log", DESCRIPTION, tables, limits, notes=[fsync_note])


if __name__ == "__main__":
    sys.exit(print_report(run()))
