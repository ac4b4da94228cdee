"""Keeps sleeps and lock time-outs working while libfaketime steps a process's clock.

`time.sleep` waits until a time of the monotonic clock, which libfaketime rejects once it has
stepped the wall clock: every sleep fails. Locks shared between processes wait until a time of
the wall clock, which the kernel compares with the real one: a time-out of half a second becomes
as long as the step. `select` is not affected.

Python imports this module by its name, from PYTHONPATH; another `sitecustomize` further on the
path is still loaded.
"""

import select
import sys
import time
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from multiprocessing.synchronize import SemLock
from pathlib import Path
from typing import Any, Final

POLL_INTERVAL: Final = 0.01  # seconds, for a lock that is held


def _sleep(seconds: Any, /) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


def _make_methods(lock: Any) -> None:
    """Replaces SemLock's: time-outs by the monotonic clock."""
    acquire = lock._semlock.acquire  # noqa: SLF001 - it has no other name

    def polling(block: bool = True, timeout: float | None = None) -> Any:
        if timeout is None or not block:
            return acquire(block, timeout)
        deadline = time.monotonic() + timeout
        while not (acquired := acquire(False)) and time.monotonic() < deadline:
            _sleep(POLL_INTERVAL)
        return acquired

    lock.acquire, lock.release = polling, lock._semlock.release  # noqa: SLF001 - likewise


def _load_next_sitecustomize() -> None:
    here = Path(__file__).parent
    others = [path for path in sys.path if Path(path or ".").resolve() != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


time.sleep = _sleep
SemLock._make_methods = _make_methods  # type: ignore[attr-defined] # noqa: SLF001 - likewise
_load_next_sitecustomize()
