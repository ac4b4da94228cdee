"""Which session the work at hand is about, so that each line of the service log can say so.

Bound where work enters (a request, a job, an event of the sweep) and put into
every record by the log's own filter: whoever logs need not think of it. Only
the short hash is kept, for a session id is the key to a verdict.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from audit.core.redaction import short_hash

_SUBJECT: Final[ContextVar[str | None]] = ContextVar("subject", default=None)  # None: no block


@contextmanager
def log_session(session_id: str | None) -> Iterator[None]:
    """For the block; what was before it is so again after it. None or empty: about no session."""
    token = _SUBJECT.set(_hash(session_id))
    try:
        yield
    finally:
        _SUBJECT.reset(token)


def set_log_session(session_id: str | None) -> None:
    """From here to the end of the block that we are in: it has turned out what it is about.

    Outside any block nobody would ever end it, so there it does nothing.
    """
    if _SUBJECT.get() is not None:
        _SUBJECT.set(_hash(session_id))


def log_session_hash() -> str:
    """Its short hash; empty where no session is concerned."""
    return _SUBJECT.get() or ""


def _hash(session_id: str | None) -> str:
    return short_hash(session_id) if session_id else ""
