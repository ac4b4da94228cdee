"""Cached reads under load: who bears how much, and how long the slowest hundredth waits."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks import plot
from benchmarks.cached import wrk
from benchmarks.cached.contenders import (
    BARE,
    DRF,
    FASTAPI,
    NGINX,
    SITE_POSTGRESQL,
    SITE_SQLITE,
    Contender,
    everybody,
)
from benchmarks.cached.wrk import Load
from benchmarks.dataset.ideas import ideas
from benchmarks.dataset.past import is_delivered, session_id
from benchmarks.datasets import Houses
from benchmarks.progress import Progress
from benchmarks.report import Limit, Picture, Section, Table, number
from benchmarks.servers import wait_until_idle

ORDERS: Final = 100_000
ROUNDS: Final = 4
SECONDS: Final = 6.0

ABOUT: Final = """
`GET /api/verdict` for 100,000 sessions at random, answers of 2.4 KB, 64 connections. Whatever
serves has one core, its database or Redis included; wrk has the other. Everybody is measured in
turns, four rounds; figures are medians. The site is the reader of deploy/ on both databases, with
the count of hits that it keeps, asked directly like its peers. These are in `benchmarks/peers`.
Bare Django is one view that reads nothing, under granian with its one thread and with four, and
under gunicorn; throughput is compared with the fastest of them. The 99th percentile on PostgreSQL
is compared with FastAPI's and DRF's, and not with the bare Django views': these read nothing. The
databases are held in memory.
""".strip()


def run(houses: Houses, orders: int = ORDERS) -> Section:
    section = Section("Cached reads", ABOUT)
    if missing := wrk.missing():
        section.limits += limits({}, dict.fromkeys((FASTAPI, NGINX, *BARE, *DRF), missing))
        return section
    ids = write_ids(houses.folder / "ids.txt", orders)
    body = ideas(str)[1].original.body.encode()
    places = {
        SITE_SQLITE: houses.filled("SQLite", orders).place,
        SITE_POSTGRESQL: houses.filled("PostgreSQL", orders).place,
    }
    houses.database("plain_drf")
    where = f"{houses.socket},plain_drf"
    with houses.pinned(), everybody(houses.folder, ids, body, places, where) as stage:
        found = in_turns(stage.contenders, ids)
        left_out = stage.left_out
    section.tables.append(_table(found))
    section.limits += limits(found, left_out)
    section.pictures.append(_picture(found))
    section.notes += [f"Left out: {name} ({why})." for name, why in left_out.items()]
    section.notes += houses.measured_on_disk()
    return section


def write_ids(path: Path, orders: int) -> Path:
    if not path.exists():
        numbers = filter(is_delivered, range(1, orders + 1))
        path.write_text("".join(f"{session_id(number)}\n" for number in numbers))
    return path


def in_turns(contenders: Sequence[Contender], ids: Path) -> dict[str, Load]:
    rounds: dict[str, list[Load]] = {one.name: [] for one in contenders}
    done, total = 0, ROUNDS * len(contenders)
    with Progress("cached reads") as progress:
        for _ in range(ROUNDS):
            for one in contenders:
                rounds[one.name].append(wrk.load(one.url, ids, seconds=SECONDS, secure=one.secure))
                wait_until_idle(one.process)  # what it put off is its own, and not the next one's
                done += 1
                progress.share(done, total)
    return {name: _median(loads) for name, loads in rounds.items()}


def _median(loads: Sequence[Load]) -> Load:
    return Load(
        statistics.median(one.per_second for one in loads),
        statistics.median(one.median for one in loads),
        statistics.median(one.p99 for one in loads),
        sum(one.requests for one in loads),
    )


def _table(found: dict[str, Load]) -> Table:
    beside = found.get(FASTAPI)
    ordered = sorted(found.items(), key=lambda item: -item[1].per_second)
    rows = [
        [
            name,
            number(one.per_second / beside.per_second) if beside else "",
            f"{one.per_second:,.0f}",
            f"{number(one.median)} ms",
            f"{number(one.p99)} ms",
        ]
        for name, one in ordered
    ]
    return Table(["", f"× {FASTAPI}", "requests/s", "median", "99th percentile"], rows)


def limits(found: Mapping[str, Load], left_out: Mapping[str, str]) -> list[Limit]:
    """All that was promised, whether it could be measured or not; `left_out` says why not."""
    return _throughput(found, left_out) + _slowest(found, left_out)


def _throughput(found: Mapping[str, Load], left_out: Mapping[str, str]) -> list[Limit]:
    bare = max(BARE, key=lambda name: found[name].per_second if name in found else 0.0)
    wanted = (
        (SITE_SQLITE, FASTAPI, 5.0),
        (SITE_SQLITE, bare, 1.7),
        (SITE_SQLITE, NGINX, 0.28),
        (SITE_POSTGRESQL, FASTAPI, 3.0),
    )
    return [
        Limit(
            f"{ours} / {peer}",
            found[ours].per_second / found[peer].per_second if peer in found else None,
            least=least,
            unit=" ×",
            why_not=left_out.get(peer, ""),
        )
        for ours, peer, least in wanted
    ]


def _slowest(found: Mapping[str, Load], left_out: Mapping[str, str]) -> list[Limit]:
    """Beside each of FastAPI, Django and DRF: its 99th percentile, ours over theirs.

    The bare views read nothing: they are beside the site on SQLite, as with throughput.
    """
    beside = {SITE_SQLITE: (FASTAPI, *BARE, *DRF), SITE_POSTGRESQL: (FASTAPI, *DRF)}
    return [
        Limit(
            f"{ours} / {peer}, 99th percentile",
            found[ours].p99 / found[peer].p99 if peer in found else None,
            most=1.0,
            why_not=left_out.get(peer, ""),
        )
        for ours, peers in beside.items()
        for peer in peers
    ]


def _picture(found: dict[str, Load]) -> Picture:
    name = FASTAPI if FASTAPI in found else min(found)
    figures = {its: one.per_second / found[name].per_second for its, one in found.items()}
    says = f"Cached reads a second, as multiples of {name}"
    drawn = plot.bars(says, figures, ours=(SITE_SQLITE, SITE_POSTGRESQL), unit=" ×")
    return Picture("bench-cached.svg", says, drawn)
