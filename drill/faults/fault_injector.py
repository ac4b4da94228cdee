"""Deals the faults: each at its turn, and counted."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import psutil

from drill.faults.faults import Fault
from drill.faults.kill_stages import arm
from drill.load.scene import MODEL, Scene

NEXT_MODEL: Final = "gemini-2.5-pro"


class FaultInjector:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.faults: list[Fault] = []  # that were injected, and count

    def run(self, faults: list[Fault], *, orders: Callable[[], int], over: threading.Event) -> None:
        """All of them, each when so many orders are in; what is left is injected at the end."""
        for fault in faults:
            while orders() < fault.after and not over.wait(0.05):
                pass
            if self._inject(fault):
                self.faults.append(fault)

    @property
    def injected(self) -> Counter[str]:
        return Counter(fault.kind for fault in self.faults)

    def stop(self) -> None:
        """What would otherwise last for ever."""
        self._scene.disk.free()

    def _inject(self, fault: Fault) -> bool:
        """Whether it counts: the end of a fault does not, and of a kill its victim tells."""
        scene = self._scene
        match fault.kind:
            case "kill" if fault.stage:
                arm(scene.stages, fault.stage, how=fault.how)
                return False
            case "pool":
                self._kill_pool(fault.cluster)
            case "database" if scene.database.restart:
                scene.database.restart()
            case "disk full":
                scene.disk.fill()
            case "disk freed":
                scene.disk.free()
                return False
            case "clock" if scene.clock:
                scene.clock.step(fault.seconds)
            case "model retired":
                path = f"models/{MODEL}:"
                scene.sandbox.fault("gemini", "not_found", times=None, match=path)
            case "model changed":
                scene.site.restart(ORACLE_MODEL=NEXT_MODEL)
                return False
        return True

    def _kill_pool(self, cluster: str) -> None:
        """All but the guard, which then looks after processes that can do nothing."""
        for one in self._scene.site.pool(cluster)[1:]:
            with suppress(psutil.Error):
                one.kill()
