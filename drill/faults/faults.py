"""What is injected into the site, drawn from the seed: what, and after how many orders.

Pure: the same seed gives the same faults. Kills go round the stages, so that a drill
of full size meets each of them; the last orders are left in peace, so that what is
seen at the end is what the site has made of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import Final, Literal

from drill.faults.kill_stages import ALONE, STAGES, WITH_GROUP, Stage

Kind = Literal[
    "kill",
    "pool",
    "database",
    "disk full",
    "disk freed",
    "clock",
    "model retired",
    "model changed",
]
# Seconds; never so far that Stripe's signatures seem to be of another hour (five minutes).
STEPS: Final = (60, 150, -45)
FURTHEST: Final = 240
# The pool's watch waits for longer than a job can last: too long for a short drill.
LARGE: Final = 300


@dataclass(frozen=True, slots=True)
class Fault:
    after: int  # orders
    kind: Kind
    stage: Stage | None = None
    how: str = ALONE
    cluster: str = ""
    seconds: int = 0


def plan_faults(seed: int, orders: int, *, restarts: bool, clock: bool) -> list[Fault]:
    """In the order in which they fall. `restarts`: the database's, which we may not everywhere."""
    draw = Random(f"{seed} blows")  # noqa: S311 - repeatable on purpose
    drawn = [
        *_kills(draw, orders),
        *_disk(draw, orders),
        *_retirement(draw, orders),
        *(_clock(draw, orders) if clock else ()),
        *(Fault(_when(draw, orders), "database") for _ in range(1 + orders // 400) if restarts),
        *(_pools(draw, orders) if orders >= LARGE else ()),
    ]
    return sorted(drawn, key=lambda fault: fault.after)


def _when(draw: Random, orders: int) -> int:
    return draw.randint(max(1, orders // 20), max(1, orders * 17 // 20))


def _kills(draw: Random, orders: int) -> Iterator[Fault]:
    for role, count in (("web", 2 + orders // 90), ("generate", 3 + orders // 40)):
        yield from _kills_of(draw, orders, role, count)
    yield from _kills_of(draw, orders, "post", 3 + orders // 40)


def _kills_of(draw: Random, orders: int, role: str, count: int) -> Iterator[Fault]:
    stages = [stage for stage in STAGES if stage.role == role]
    draw.shuffle(stages)
    for stage in islice(cycle(stages), count):
        how = WITH_GROUP if role != "web" and draw.random() < 0.2 else ALONE
        yield Fault(_when(draw, orders), "kill", stage=stage, how=how)


def _pools(draw: Random, orders: int) -> Iterator[Fault]:
    """All of a pool's workers at once: whatever locks they hold are held for ever."""
    for cluster in ("generate", "post"):
        yield Fault(_when(draw, orders), "pool", cluster=cluster)


def _disk(draw: Random, orders: int) -> Iterator[Fault]:
    for _ in range(1 + orders // 400):
        full = _when(draw, orders)
        yield Fault(full, "disk full")
        yield Fault(full + max(3, orders // 25), "disk freed")


def _retirement(draw: Random, orders: int) -> Iterator[Fault]:
    gone = draw.randint(orders * 4 // 10, orders * 6 // 10)
    yield Fault(gone, "model retired")
    yield Fault(gone + max(4, orders // 30), "model changed")


def _clock(draw: Random, orders: int) -> Iterator[Fault]:
    offset = 0
    for after in sorted(_when(draw, orders) for _ in range(2 + orders // 250)):
        step = draw.choice([one for one in STEPS if -60 <= offset + one <= FURTHEST])
        offset += step
        yield Fault(after, "clock", seconds=step)
