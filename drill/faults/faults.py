"""The faults injected into the site itself, drawn from the seed: what, and after how many orders.

Pure: the same seed gives the same faults. Kills cycle through the stages, so that a drill of
full size reaches each of them. None is injected during the last orders, so that the final state
is the site's own recovery.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, islice
from random import Random
from typing import Final

from drill.faults.kill_stages import STAGES, Scope, Stage


class FaultKind(StrEnum):
    KILL = "kill"
    POOL_KILLED = "pool killed"
    DATABASE_RESTART = "database restart"
    DISK_FULL = "disk full"
    DISK_FREED = "disk freed"
    CLOCK_STEP = "clock step"
    MODEL_RETIRED = "model retired"
    MODEL_CHANGED = "model changed"


# Seconds. Together they stay below the five minutes for which a Stripe signature is valid.
CLOCK_STEPS: Final = (60, 150, -45)
MIN_CLOCK_OFFSET: Final = -60
MAX_CLOCK_OFFSET: Final = 240
# A stuck pool is noticed only after the longest job could have ended: too long for a short drill.
MIN_ORDERS_FOR_POOL_KILL: Final = 300


@dataclass(frozen=True, slots=True)
class Fault:
    after: int  # orders
    kind: FaultKind
    stage: Stage | None = None
    scope: Scope = Scope.PROCESS
    cluster: str = ""
    seconds: int = 0


def plan_faults(seed: int, orders: int, *, restarts: bool, clock: bool) -> list[Fault]:
    """In order of injection. `restarts`, `clock`: whether the database can be restarted, and the
    site's clock stepped.
    """
    # The label is part of the seed: another one would change the faults of every known seed.
    random = Random(f"{seed} blows")  # noqa: S311 - repeatable on purpose
    faults = [
        *_kills(random, orders),
        *_disk(random, orders),
        *_model(random, orders),
        *(_clock(random, orders) if clock else ()),
        *(
            Fault(_when(random, orders), FaultKind.DATABASE_RESTART)
            for _ in range(1 + orders // 400)
            if restarts
        ),
        *(_pools(random, orders) if orders >= MIN_ORDERS_FOR_POOL_KILL else ()),
    ]
    return sorted(faults, key=lambda fault: fault.after)


def _when(random: Random, orders: int) -> int:
    return random.randint(max(1, orders // 20), max(1, orders * 17 // 20))


def _kills(random: Random, orders: int) -> Iterator[Fault]:
    yield from _kills_of(random, orders, "web", 2 + orders // 90)
    for role in ("generate", "post"):
        yield from _kills_of(random, orders, role, 3 + orders // 40)


def _kills_of(random: Random, orders: int, role: str, count: int) -> Iterator[Fault]:
    stages = [stage for stage in STAGES if stage.role == role]
    random.shuffle(stages)
    for stage in islice(cycle(stages), count):
        scope = Scope.GROUP if role != "web" and random.random() < 0.2 else Scope.PROCESS
        yield Fault(_when(random, orders), FaultKind.KILL, stage=stage, scope=scope)


def _pools(random: Random, orders: int) -> Iterator[Fault]:
    """All workers of a pool at once: the locks that they hold are never released."""
    for cluster in ("generate", "post"):
        yield Fault(_when(random, orders), FaultKind.POOL_KILLED, cluster=cluster)


def _disk(random: Random, orders: int) -> Iterator[Fault]:
    for _ in range(1 + orders // 400):
        full = _when(random, orders)
        yield Fault(full, FaultKind.DISK_FULL)
        yield Fault(full + max(3, orders // 25), FaultKind.DISK_FREED)


def _model(random: Random, orders: int) -> Iterator[Fault]:
    retired = random.randint(orders * 4 // 10, orders * 6 // 10)
    yield Fault(retired, FaultKind.MODEL_RETIRED)
    yield Fault(retired + max(4, orders // 30), FaultKind.MODEL_CHANGED)


def _clock(random: Random, orders: int) -> Iterator[Fault]:
    offset = 0
    for after in sorted(_when(random, orders) for _ in range(2 + orders // 250)):
        possible = [
            step for step in CLOCK_STEPS if MIN_CLOCK_OFFSET <= offset + step <= MAX_CLOCK_OFFSET
        ]
        step = random.choice(possible)
        offset += step
        yield Fault(after, FaultKind.CLOCK_STEP, seconds=step)
