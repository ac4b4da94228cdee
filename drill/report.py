"""The report of a drill: what was injected, every invariant and its violations."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from audit.management.terminal import render_table
from drill.faults.faults import FaultKind
from drill.faults.kill_stages import REGENERATION, STAGES, Kill
from drill.invariants.invariant import Invariant
from drill.invariants.load_invariants import overtaken, quantile
from drill.scenarios.fault_scenario import RunResult
from drill.scenarios.load_scenario import Measurements

TITLES: Final[dict[str, str]] = {
    FaultKind.DATABASE_RESTART: "database restarted",
    FaultKind.DISK_FULL: "disk full under the log",
    FaultKind.CLOCK_STEP: "clock stepped",
    FaultKind.POOL_KILLED: "all workers of a pool killed",
    FaultKind.MODEL_RETIRED: "model retired and replaced",
}


@dataclass(frozen=True, kw_only=True)
class Report:
    all_hold: ClassVar[str]

    orders: int
    seed: int
    database: str
    invariants: list[Invariant]
    slowest: tuple[float, str]

    @property
    def first_violation(self) -> str:
        violated = (one for one in self.invariants if one.violations)
        return next((f"{one.name}: {one.violations[0]}" for one in violated), "")

    def _invariants(self) -> str:
        rows = [
            (one.name, f"{one.checked:,}", f"{len(one.violations):,}") for one in self.invariants
        ]
        return render_table(("Invariant", "checked", "violated"), rows, right=(1, 2))

    def _notes(self) -> Iterator[str]:
        return (f"{one.name}: {one.note}." for one in self.invariants if one.note)

    def _slowest(self) -> str:
        return f"Slowest response: {self.slowest[0]:.1f} s ({self.slowest[1]})."


@dataclass(frozen=True, kw_only=True)
class FaultReport(Report):
    all_hold: ClassVar = "All invariants hold: nothing was lost, duplicated or leaked."

    disk: str
    injected: Counter[str]
    not_injected: dict[str, str]
    kills: list[Kill]
    result: RunResult
    responses: Counter[int]

    def lines(self) -> Iterator[str]:
        yield f"Fault drill: {self.orders:,} orders on {self.database}, seed {self.seed}"
        yield ""
        yield render_table(("Injected", "times"), self._injected(), right=(1,))
        yield ""
        if self.not_injected:
            yield render_table(("Not injected", "why"), list(self.not_injected.items()))
            yield ""
        yield self._invariants()
        yield ""
        yield from self._notes()
        yield from self._run()

    def _injected(self) -> list[tuple[str, str]]:
        rows = [
            (TITLES.get(name, name), f"{count:,}") for name, count in sorted(self.injected.items())
        ]
        for role in ("web", "generate", "post"):
            killed = [one.stage for one in self.kills if one.stage.role == role]
            stages = sum(stage.role == role for stage in STAGES)
            title = f"{role} killed, at {len(set(killed))} of {stages} stages"
            rows.append((title, f"{len(killed):,}"))
        during = sum(one.stage.id in REGENERATION for one in self.kills)
        rows.append(("web killed during a regeneration", f"{during:,}"))
        return rows

    def _run(self) -> Iterator[str]:
        wait = self.result.wait
        yield (
            f"Orders placed in {minutes(self.result.ordering_seconds)}; quiet "
            f"{minutes(wait.seconds)} later, with {minutes(wait.skipped)} of retry pauses skipped."
        )
        pools = ", ".join(f"{count} × {name}" for name, count in self.result.replaced_pools.items())
        yield f"Stuck pools replaced by their worker: {pools or 'none'}."
        statuses = ", ".join(
            f"{count:,} × {status or 'no response'}"
            for status, count in sorted(self.responses.items())
        )
        yield f"Responses: {statuses}."
        yield self._slowest()
        yield f"The log's disk: {self.disk}."


@dataclass(frozen=True, kw_only=True)
class LoadReport(Report):
    all_hold: ClassVar = (
        "All invariants hold: every request was answered, orders were processed in order of "
        "payment."
    )

    pace: float
    measured: Measurements

    def lines(self) -> Iterator[str]:
        measured = self.measured
        yield (
            f"Load drill: {self.orders:,} orders at once on {self.database}, model limited to "
            f"{self.pace:g} requests a second, seed {self.seed}"
        )
        yield ""
        yield self._invariants()
        yield ""
        hits = {"before the load": measured.baseline_hits, "under load": measured.loaded_hits}
        header = ("Cache hits, ms", "median", "p95", "max", "count")
        rows = [_quantiles(name, seconds) for name, seconds in hits.items()]
        yield render_table(header, rows, right=(1, 2, 3, 4))
        yield ""
        baseline, loaded = (1000 * quantile(0.95, seconds) for seconds in hits.values())
        yield (
            f"The p95 of cache hits was {baseline:,.0f} ms before the load and {loaded:,.0f} ms "
            f"under load: {loaded / baseline if baseline else 0:.1f} times as long."
        )
        yield from self._notes()
        yield (
            f"Ordered and paid in {minutes(measured.ordering_seconds)}; "
            f"drained {minutes(measured.draining_seconds)} later."
        )
        most = max(overtaken(measured), default=0)
        yield f"No order was overtaken by more than {most} that were paid later."
        yield (
            f"{len(measured.regenerated)} evicted pages were read again, the last after "
            f"{max(measured.regenerated, default=0):.1f} s; "
            f"{measured.told_to_wait:,} responses were 202."
        )
        yield self._slowest()


def _quantiles(name: str, seconds: list[float]) -> tuple[str, ...]:
    values = (f"{1000 * quantile(share, seconds):,.0f}" for share in (0.5, 0.95, 1))
    return (name, *values, f"{len(seconds):,}")


def minutes(seconds: float) -> str:
    whole, rest = divmod(round(seconds), 60)
    return f"{whole}:{rest:02}"
