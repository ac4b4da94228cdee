"""A total deadline for every call to the outside.

Client libraries time out per read: a server that dribbles bytes outlives them
for ever. So all calls run as coroutines on one event loop in a thread of this
process, and are cancelled, sockets and all, when their time is up. The loop is
shared, so that clients can keep their connections.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 1.0  # seconds for a loop that is busy with somebody else's call

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = 0


def within(seconds: float, call: Coroutine[Any, Any, T]) -> T:
    """The call's result. Raises TimeoutError once `seconds` are over, whatever it was doing."""
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, seconds), loop())
    try:
        return future.result(seconds + GRACE)
    except BaseException:
        future.cancel()  # too late, or we were interrupted: nobody wants the answer any more
        raise


def loop() -> asyncio.AbstractEventLoop:
    """This process's loop: a forked child starts its own, for threads do not survive a fork."""
    global _loop, _owner  # noqa: PLW0603 - one loop a process is the point
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop = asyncio.new_event_loop()
            _owner = os.getpid()
            threading.Thread(target=_loop.run_forever, name="outside", daemon=True).start()
        return _loop


def generation() -> int:
    """Changes when the loop does: a client that was made for another loop is of no use."""
    loop()
    return _owner
