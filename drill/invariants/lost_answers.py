"""How many of the model's answers can have been lost with the process that held them. Pure.

Only what falls between the answer and its commit counts: who dies before it has no
answer, and who dies after it has kept it. A regeneration needs no allowance, since it
may have its answer from the moment it is begun.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from drill.faults.faults import Fault
from drill.faults.kill_stages import WITH_GROUP

POOL: Final = "generate"
WORKERS: Final = 4  # of that pool: so many calls are under way at most
CLAIM: Final = 90  # seconds that an order is a worker's own, and many times what a call takes
HOLDING: Final = frozenset(
    {
        "generate: model answered",
        "generate: decision recorded",
        "generate: verdict cached, not committed",
    }
)


def answers_at_risk(
    kills: Iterable[str], faults: Iterable[Fault], ended_by_watch: Counter[str]
) -> int:
    """`kills` as `stages.kills` tells them; `faults` that were injected; pools, by their queue."""
    return (
        sum(_by_kill(line) for line in kills)
        + WORKERS * sum(_stops_the_pool(fault) for fault in faults)
        + WORKERS * ended_by_watch[POOL]
    )


def _by_kill(line: str) -> int:
    stage, _, how = line.rpartition(", ")
    if how == WITH_GROUP:
        return WORKERS if stage.startswith(f"{POOL}: ") else 0
    return int(stage in HOLDING)


def _stops_the_pool(fault: Fault) -> bool:
    match fault.kind:
        case "pool":
            return fault.cluster == POOL
        case "database":
            return True  # no commit comes through
        case "clock":
            return fault.seconds >= CLAIM  # whoever is at it has lost it, and others take over
    return False
