"""Injects the planned faults into the site, each when its number of orders is reached."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import psutil

from drill.faults.faults import Fault, FaultKind
from drill.faults.kill_stages import arm
from drill.testbed import MODEL, Testbed

NEXT_MODEL: Final = "gemini-2.5-pro"


class FaultInjector:
    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self.faults: list[Fault] = []  # that were injected, and are counted

    def run(self, faults: list[Fault], *, orders: Callable[[], int], over: threading.Event) -> None:
        """Injects all; once `over` is set, the remaining ones without waiting."""
        for fault in faults:
            while orders() < fault.after and not over.wait(0.05):
                pass
            if self._inject(fault):
                self.faults.append(fault)

    @property
    def injected(self) -> Counter[str]:
        return Counter(fault.kind for fault in self.faults)

    def stop(self) -> None:
        """End the one fault that would last for ever: the full disk."""
        self._testbed.disk.free()

    def _inject(self, fault: Fault) -> bool:
        """Whether to count it: not the end of a fault, nor a kill, which is recorded when it
        happens.
        """
        testbed = self._testbed
        match fault.kind:
            case FaultKind.KILL if fault.stage:
                arm(testbed.stages, fault.stage, scope=fault.scope)
                return False
            case FaultKind.POOL_KILLED:
                self._kill_pool(fault.cluster)
            case FaultKind.DATABASE_RESTART if testbed.database.restart:
                testbed.database.restart()
            case FaultKind.DISK_FULL:
                testbed.disk.fill()
            case FaultKind.DISK_FREED:
                testbed.disk.free()
                return False
            case FaultKind.CLOCK_STEP if testbed.clock:
                testbed.clock.step(fault.seconds)
            case FaultKind.MODEL_RETIRED:
                path = f"models/{MODEL}:"
                testbed.sandbox.fault("gemini", "not_found", times=None, match=path)
            case FaultKind.MODEL_CHANGED:
                testbed.site.restart(ORACLE_MODEL=NEXT_MODEL)
                return False
        return True

    def _kill_pool(self, cluster: str) -> None:
        """All but the guard, whose other processes then no longer respond."""
        for process in self._testbed.site.pool(cluster)[1:]:
            with suppress(psutil.Error):
                process.kill()
