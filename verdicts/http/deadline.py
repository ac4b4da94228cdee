"""A total deadline for every call to an external service.

HTTP client libraries time out per read, so a server that keeps dribbling bytes is never timed
out. Calls therefore run as coroutines on one event loop in a background thread, and are cancelled
with their sockets at the deadline. The loop is shared, so that clients can reuse connections.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.0  # extra seconds for the loop to cancel a call while it is busy with another

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner_pid = 0


def run_with_deadline(seconds: float, call: Coroutine[Any, Any, T]) -> T:
    """The call's result. Raises TimeoutError after `seconds`, whatever the call is doing."""
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, seconds), event_loop())
    try:
        return future.result(seconds + GRACE)
    except BaseException:
        future.cancel()  # timed out or interrupted: the result is no longer needed
        raise


def event_loop() -> asyncio.AbstractEventLoop:
    """This process's loop. A forked child starts its own, because threads do not survive a fork."""
    global _loop, _owner_pid  # noqa: PLW0603 - one loop per process
    with _lock:
        if _loop is None or _owner_pid != os.getpid():
            _loop = asyncio.new_event_loop()
            _owner_pid = os.getpid()
            threading.Thread(target=_loop.run_forever, name="http-clients", daemon=True).start()
        return _loop


def loop_id() -> int:
    """Identifies the loop: a client created for another loop must not be used."""
    event_loop()
    return _owner_pid
