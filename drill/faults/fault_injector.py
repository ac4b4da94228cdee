"""Deals the blows: each at its turn, and counted."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import psutil

from drill.faults.faults import Blow
from drill.faults.kill_stages import arm
from drill.load.scene import MODEL, Scene

NEXT_MODEL: Final = "gemini-2.5-pro"


class Saboteur:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.blows: list[Blow] = []  # that were dealt, and count

    def deal(self, blows: list[Blow], *, orders: Callable[[], int], over: threading.Event) -> None:
        """All of them, each when so many orders are in; what is left is dealt at the end."""
        for blow in blows:
            while orders() < blow.after and not over.wait(0.05):
                pass
            if self._deal(blow):
                self.blows.append(blow)

    @property
    def dealt(self) -> Counter[str]:
        return Counter(blow.kind for blow in self.blows)

    def relent(self) -> None:
        """What would otherwise last for ever."""
        self._scene.disk.free()

    def _deal(self, blow: Blow) -> bool:
        """Whether it counts: the end of a blow does not, and of a kill its victim tells."""
        scene = self._scene
        match blow.kind:
            case "kill" if blow.stage:
                arm(scene.stages, blow.stage, how=blow.how)
                return False
            case "pool":
                self._kill_pool(blow.cluster)
            case "database" if scene.database.restart:
                scene.database.restart()
            case "disk full":
                scene.disk.fill()
            case "disk freed":
                scene.disk.free()
                return False
            case "clock" if scene.clock:
                scene.clock.step(blow.seconds)
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
