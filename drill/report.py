"""What a drill tells: what was injected, the invariants, and which were violated."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from drill.faults.kill_stages import STAGES
from drill.invariants.invariant import Invariant
from drill.invariants.load_invariants import overtaken, within
from drill.load.crowd import Felt
from drill.load.storm import Course

NAMES = {
    "database": "database restarted",
    "disk full": "disk full under the log",
    "clock": "clock stepped",
    "pool": "all workers of a pool killed -9",
    "model retired": "model retired, another one set",
}
MADE_AGAIN = "web: regeneration "


@dataclass(frozen=True, kw_only=True)
class Told:
    """What every drill tells."""

    orders: int
    seed: int
    database: str
    invariants: list[Invariant]
    slowest: tuple[float, str]

    @property
    def first_violation(self) -> str:
        broken = (one for one in self.invariants if one.violations)
        return next((f"{one.name}: {one.violations[0]}" for one in broken), "")

    def _invariants(self) -> list[tuple[str, str, str]]:
        return [
            (one.name, f"{one.checked:,}", f"{len(one.violations):,}") for one in self.invariants
        ]

    def _notes(self) -> Iterator[str]:
        return (f"{one.name}: {one.note}." for one in self.invariants if one.note)


@dataclass(frozen=True, kw_only=True)
class Report(Told):
    kept: ClassVar = "Kept: nothing lost, nothing doubled, nothing leaked."

    disk: str
    injected: Counter[str]
    left_out: dict[str, str]
    kills: Counter[str]
    course: Course
    answers: Counter[int]

    def lines(self) -> Iterator[str]:
        yield f"Drill: {self.orders:,} orders on {self.database}, seed {self.seed}"
        yield ""
        yield from table(("Injected", "times"), self._injected())
        yield ""
        if self.left_out:
            yield from table(("Not injected", "why"), list(self.left_out.items()))
            yield ""
        yield from table(("Invariant", "checked", "violated"), self._invariants())
        yield ""
        yield from self._notes()
        yield from self._course()

    def _injected(self) -> list[tuple[str, str]]:
        rows = [
            (NAMES.get(what, what), f"{count:,}") for what, count in sorted(self.injected.items())
        ]
        for role in ("web", "generate", "post"):
            count = sum(n for name, n in self.kills.items() if name.startswith(f"{role}:"))
            met = len({name for name in self.kills if name.startswith(f"{role}:")})
            stages = sum(stage.role == role for stage in STAGES)
            rows.append((f"{role} killed -9, at {met} of {stages} stages", f"{count:,}"))
        while_made_again = sum(n for name, n in self.kills.items() if name.startswith(MADE_AGAIN))
        rows.append(("web killed -9 during a regeneration", f"{while_made_again:,}"))
        return rows

    def _course(self) -> Iterator[str]:
        wait = self.course.wait
        yield f"Ordered in {clock(self.course.pushed)}; quiet {clock(wait.seconds)} later, " + (
            f"with {clock(wait.skipped)} of pauses skipped." if wait.skipped else "none skipped."
        )
        pools = ", ".join(f"{name} {count} ×" for name, count in self.course.restarted.items())
        yield f"Pools that stood still, noticed by their watch: {pools or 'none'}."
        told = ", ".join(f"{count:,} × {status}" for status, count in sorted(self.answers.items()))
        yield f"Answers: {told.replace('× 0', 'none')}."
        yield f"The slowest answer took {self.slowest[0]:.1f} s ({self.slowest[1]})."
        yield f"The log's disk: {self.disk}."


@dataclass(frozen=True, kw_only=True)
class CrowdReport(Told):
    kept: ClassVar = "Kept: everybody was answered, and served in the order of payment."

    pace: float
    felt: Felt

    def lines(self) -> Iterator[str]:
        felt = self.felt
        yield (
            f"Crowd: {self.orders:,} orders at once on {self.database}, "
            f"a model that takes {self.pace:g} requests a second, seed {self.seed}"
        )
        yield ""
        yield from table(("Invariant", "checked", "violated"), self._invariants())
        yield ""
        times = [("hits before", felt.calm), ("hits in the crowd", felt.crowded)]
        yield from table(("Took, ms", "half", "95 of 100", "longest", "count"), _times(times))
        yield ""
        before, crowded = (1000 * within(0.95, took) for took in (felt.calm, felt.crowded))
        yield (
            f"95 of 100 hits took up to {before:,.0f} ms before the crowd and {crowded:,.0f} ms in "
            f"it: {crowded / before if before else 0:.1f} times as long."
        )
        yield from self._notes()
        yield f"Ordered and paid in {clock(felt.ordered)}; drained {clock(felt.drained)} later."
        most = max(overtaken(felt), default=0)
        yield f"No order was begun after more than {most} that were paid for later."
        yield (
            f"{len(felt.regenerated)} lost pages were made again, the last after "
            f"{max(felt.regenerated, default=0):.1f} s; 202 was said {felt.turned_away:,} times."
        )
        yield f"The slowest answer of all took {self.slowest[0]:.1f} s ({self.slowest[1]})."


def _times(named: list[tuple[str, list[float]]]) -> list[tuple[str, ...]]:
    shares = (0.5, 0.95, 1)
    return [
        (name, *(f"{1000 * within(share, took):,.0f}" for share in shares), f"{len(took):,}")
        for name, took in named
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Numbers to the right, words to the left."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    signs = [">" if all(map(_is_number, column[1:])) else "<" for column in columns]

    def line(row: Sequence[str]) -> str:
        cells = zip(row, signs, widths, strict=True)
        return "  ".join(("", *(f"{cell:{sign}{width}}" for cell, sign, width in cells))).rstrip()

    yield line(head)
    yield line(["-" * width for width in widths])
    yield from (line(row) for row in rows)


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").isdigit()


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
