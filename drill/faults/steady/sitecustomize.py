"""Lets a process sleep and wait while its clock is stepped by libfaketime.

Python sleeps until a moment of the monotonic clock, and libfaketime, once it has
stepped the wall clock, takes that moment for an impossible one: every `time.sleep`
fails. Processes wait for each other until a moment of the wall clock, and the
kernel knows only the real one: half a second becomes as long as the step. What
waits by `select` is left alone.

Python imports this by its name from PYTHONPATH; whoever has one of that name
further on keeps it.
"""

import select
import sys
import time
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from multiprocessing.synchronize import SemLock
from pathlib import Path
from typing import Any, Final

LOOK_EVERY: Final = 0.01  # seconds, at a lock that others hold


def _sleep(seconds: Any, /) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


def _make_methods(lock: Any) -> None:
    """Of a lock that processes share, with time-outs by the monotonic clock."""
    acquire = lock._semlock.acquire  # noqa: SLF001 - it has no other name

    def steady(block: bool = True, timeout: float | None = None) -> Any:
        if timeout is None or not block:
            return acquire(block, timeout)
        deadline = time.monotonic() + timeout
        while not (had := acquire(False)) and time.monotonic() < deadline:
            _sleep(LOOK_EVERY)
        return had

    lock.acquire, lock.release = steady, lock._semlock.release  # noqa: SLF001 - likewise


def _load_the_next() -> None:
    here = Path(__file__).parent
    others = [path for path in sys.path if Path(path or ".").resolve() != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


time.sleep = _sleep
SemLock._make_methods = _make_methods  # type: ignore[attr-defined] # noqa: SLF001 - likewise
_load_the_next()
