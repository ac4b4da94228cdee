"""Waits until the site has no work left, skipping the long pauses between retries."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from drill.display import ProgressDisplay
from drill.failures import DatabaseUnreachable
from drill.invariants.inspector import Inspector

UNCHANGED: Final = 7.0  # seconds without progress before a pause is skipped; no call takes longer
POLL_INTERVAL: Final = 0.5
TIMEOUT: Final = 900.0
EMPTY_POLLS: Final = 3  # in a row, to be sure


@dataclass(slots=True)
class Wait:
    seconds: float = 0.0
    skipped: int = 0  # seconds

    def __add__(self, other: "Wait") -> "Wait":
        return Wait(self.seconds + other.seconds, self.skipped + other.skipped)


def wait_for_quiet(
    inspector: Inspector, display: ProgressDisplay, *, skip: bool = True, timeout: float = TIMEOUT
) -> Wait:
    """Until nothing is pending, or for `timeout` seconds: what is pending then is a violation."""
    started = changed = time.monotonic()
    wait, last, empty = Wait(), None, 0
    while empty < EMPTY_POLLS and time.monotonic() - started < timeout:
        time.sleep(POLL_INTERVAL)
        try:
            pending = inspector.call("pending")
        except DatabaseUnreachable:
            continue
        empty = empty + 1 if not any(pending.values()) else 0
        if pending != last:
            last, changed = pending, time.monotonic()
        elif skip and time.monotonic() - changed > UNCHANGED and not empty:
            changed = time.monotonic()
            with suppress(DatabaseUnreachable):  # retried after the next UNCHANGED seconds
                wait.skipped += inspector.call("skip_pause")
        left = ", ".join(f"{count} {what}" for what, count in pending.items() if count)
        display.show(f"Waiting for quiet: {left or 'nothing left'}")
    wait.seconds = time.monotonic() - started
    return wait
