"""HTTP client of the site: uses only the pages and APIs that customers use."""

from typing import Any, Final

from verdicts.core.errors import SiteUnreachable
from verdicts.http.plain_http import Reply, request
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed

# Seconds; longer than the slowest response, a regeneration.
REQUEST_TIMEOUT: Final = 40.0


class SiteClient:
    def __init__(self, url: str, deadline: Deadline) -> None:
        self.url = url
        self._deadline = deadline

    def readiness(self) -> Reply:
        return self._call("GET", "/readyz")

    def order(self, *, tier: str, query: str, email: str) -> Reply:
        return self._call("POST", "/api/checkout", {"tier": tier, "query": query, "email": email})

    def read(self, session_id: str) -> Reply:
        """The verdict from the API."""
        return self._call("GET", "/api/verdict", session_id=session_id)

    def open(self, session_id: str) -> Reply:
        """The result page."""
        return self._call("GET", "/oracle/result", session_id=session_id)

    def _call(self, method: str, path: str, sent: Any = None, **params: str) -> Reply:
        try:
            return request(
                method,
                f"{self.url}{path}",
                deadline=self._deadline.timeout(REQUEST_TIMEOUT),
                params=params,
                sent=sent,
            )
        except SiteUnreachable as error:
            raise Failed(
                f"a response from {self.url}{path}",
                str(error),
                "start the site, or pass its URL: --site URL",
            ) from None


def describe(reply: Reply) -> str:
    """The response on one line: its status, and its target, problem details or state."""
    body = reply.body
    target = reply.headers.get("Location", "")
    details = " ".join(str(body.get(key, "")) for key in ("title", "detail")).strip()
    if target:
        details = f"to {target}"
    return f"{reply.status} {details or body.get('status', '')}".strip()
