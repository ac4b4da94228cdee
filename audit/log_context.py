"""The session that the current work is about, for each line of the service log.

Bound where work enters (a request, a job, an event of the sweep) and put into
every record by the log's own filter, so that callers which log need not pass it. Only the short
hash is logged, because a session id is the key to a verdict.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from audit.core.redaction import short_hash

_SESSION: Final[ContextVar[str | None]] = ContextVar("session", default=None)  # None: no block


@contextmanager
def log_session(session_id: str | None) -> Iterator[None]:
    """For the block; afterwards the previous one applies again. None or empty: no session."""
    token = _SESSION.set(session_id or "")
    try:
        yield
    finally:
        _SESSION.reset(token)


def set_log_session(session_id: str | None) -> None:
    """From here to the end of the current block: its session became known.

    Outside any block it does nothing, because nothing would reset it.
    """
    if _SESSION.get() is not None:
        _SESSION.set(session_id or "")


def log_session_hash() -> str:
    """The short hash of the session; empty where there is none."""
    session_id = _SESSION.get()
    return short_hash(session_id) if session_id else ""
