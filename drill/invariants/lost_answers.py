"""How many of the model's answers may have been lost with the process that held them. Pure.

Only processes that end between an answer and its commit count. Regenerations need no allowance:
the one answer of each is already allowed when it is claimed.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from drill.faults.faults import Fault, FaultKind
from drill.faults.kill_stages import HOLDS_ANSWER, Kill, Scope

POOL: Final = "generate"
WORKERS: Final = 4  # of that pool, and so the most calls at once
LEASE: Final = 90  # seconds of `verdicts.generation.fulfil.LEASE`, many times what a call takes


def answers_at_risk(
    kills: Iterable[Kill], faults: Iterable[Fault], replaced_pools: Counter[str]
) -> int:
    """`replaced_pools`: stuck pools that the worker's watchdog replaced, by queue."""
    return (
        sum(_lost_by_kill(kill) for kill in kills)
        + WORKERS * sum(_interrupts_pool(fault) for fault in faults)
        + WORKERS * replaced_pools[POOL]
    )


def _lost_by_kill(kill: Kill) -> int:
    if kill.scope is Scope.GROUP:
        return WORKERS if kill.stage.role == POOL else 0
    return int(kill.stage.id in HOLDS_ANSWER)


def _interrupts_pool(fault: Fault) -> bool:
    match fault.kind:
        case FaultKind.POOL_KILLED:
            return fault.cluster == POOL
        case FaultKind.DATABASE_RESTART:
            return True  # commits fail
        case FaultKind.CLOCK_STEP:
            return fault.seconds >= LEASE  # leases expire, and other workers claim the orders
    return False
