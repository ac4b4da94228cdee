"""The RSGI application: cached hits of `GET /api/verdict`, and NOT_HERE for everything else.

The proxy asks it first, and forwards requests answered with NOT_HERE to Django. The reader never
decides that a verdict does not exist: on any doubt, error or time-out, Django answers.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final, Protocol

from verdicts.results.read_counter import hits
from verdicts.results.reader.batching import Batching
from verdicts.results.reader.lookup import CachedEntry, Lookup
from verdicts.results.reader.requests import CachedRead, RequestFilter, Scope
from verdicts.results.reader.responses import Headers, ResponseBuilder

logger = logging.getLogger(__name__)

NOT_HERE: Final = 404
COOLDOWN: Final = 1.0  # seconds after a database error in which all requests are left to Django
MAX_BATCH: Final = 64  # requests answered by one query


class HTTPProtocol(Protocol):
    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None: ...

    def response_empty(self, status: int, headers: Headers) -> None: ...


class Reader:
    def __init__(self, open_lookup: Callable[[], Lookup], *, batched: bool) -> None:
        """`batched`: concurrent requests share one query. Raises TemplateError."""
        self._open_lookup = open_lookup
        self._filter = RequestFilter()
        self._responses = ResponseBuilder()
        self._lookup: Lookup | None = None
        self._paused_until = 0.0
        self._batching = Batching(self._find, max_batch=MAX_BATCH) if batched else None

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._batching:
            self._batching.start(loop)

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        if self._batching:
            self._batching.stop()
        hits.stop()  # the server's workers skip atexit

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        asked = self._filter.cached_read(scope)
        if asked is None:
            protocol.response_empty(NOT_HERE, [])
            return
        if self._batching:
            entry = await self._batching.submit(asked.session_id)
        else:
            entry = self._find([asked.session_id]).get(asked.session_id)
        self._respond(protocol, asked, entry)

    def close(self) -> None:
        """Close the database connection; the next request opens a new one."""
        if self._lookup:
            self._lookup.close()
            self._lookup = None

    def _respond(
        self, protocol: HTTPProtocol, asked: CachedRead, entry: CachedEntry | None
    ) -> None:
        try:
            response = self._responses.build(entry, asked) if entry else None
        except Exception as error:  # noqa: BLE001 - any error leaves the request to Django
            logger.warning("no response could be built: %s", type(error).__name__)
            response = None
        if response is None or entry is None:
            protocol.response_empty(NOT_HERE, [])
            return
        protocol.response_bytes(*response)
        hits.count(entry[2])

    def _find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        if time.monotonic() < self._paused_until:
            return {}
        try:
            if self._lookup is None:
                self._lookup = self._open_lookup()
            return self._lookup.find(session_ids)
        except Exception as error:  # noqa: BLE001 - any error leaves the requests to Django
            logger.warning("the cache cannot be read: %s", type(error).__name__)
            self._paused_until = time.monotonic() + COOLDOWN
            self.close()
            return {}
