"""Waiting until the site has nothing left to do; the long pauses between attempts are skipped."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from drill.display import Display
from drill.failures import DatabaseAway
from drill.invariants.examiner import Examiner

STILL: Final = 7.0  # seconds without a change: longer than any call takes in a drill
LOOK_EVERY: Final = 0.5
TIMEOUT: Final = 900.0  # in all
SURE: Final = 3  # looks that find nothing


@dataclass(slots=True)
class Wait:
    seconds: float = 0.0
    skipped: int = 0  # seconds that were waited for by nobody

    def __add__(self, other: "Wait") -> "Wait":
        return Wait(self.seconds + other.seconds, self.skipped + other.skipped)


def wait_for_quiet(
    examiner: Examiner, display: Display, *, skip: bool = True, timeout: float = TIMEOUT
) -> Wait:
    """Until nothing waits any more, or for `patience` seconds: what waits then is told as such."""
    began = changed = time.monotonic()
    wait, last, empty = Wait(), None, 0
    while empty < SURE and time.monotonic() - began < timeout:
        time.sleep(LOOK_EVERY)
        try:
            waiting = examiner.ask("waiting")
        except DatabaseAway:
            continue
        empty = empty + 1 if not any(waiting.values()) else 0
        if waiting != last:
            last, changed = waiting, time.monotonic()
        elif skip and time.monotonic() - changed > STILL and not empty:
            changed = time.monotonic()
            with suppress(DatabaseAway):  # then the next time
                wait.skipped += examiner.ask("skip")
        left = ", ".join(f"{count} {what}" for what, count in waiting.items() if count)
        display.show(f"Waiting for quiet: {left or 'nothing left'}")
    wait.seconds = time.monotonic() - began
    return wait
