"""The site as its customers reach it: every purchase and every read goes over HTTP."""

from typing import Any, Final

from verdicts.core.errors import SiteUnreachable
from verdicts.http.plain_http import Reply, request
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed

# Longer than a page may take that has to be made again.
A_CALL: Final = 40.0


class Shop:
    def __init__(self, url: str, deadline: Deadline) -> None:
        self.url = url
        self._deadline = deadline

    def readiness(self) -> Reply:
        return self._call("GET", "/readyz")

    def order(self, *, tier: str, query: str, email: str) -> Reply:
        return self._call("POST", "/api/checkout", {"tier": tier, "query": query, "email": email})

    def read(self, session_id: str) -> Reply:
        """What a program gets."""
        return self._call("GET", "/api/verdict", session_id=session_id)

    def open(self, session_id: str) -> Reply:
        """What a person gets."""
        return self._call("GET", "/oracle/result", session_id=session_id)

    def _call(self, method: str, path: str, sent: Any = None, **params: str) -> Reply:
        try:
            return request(
                method,
                f"{self.url}{path}",
                deadline=self._deadline.up_to(A_CALL),
                params=params,
                sent=sent,
            )
        except SiteUnreachable as error:
            raise Failed(
                f"an answer of {self.url}{path}",
                str(error),
                "start the site, or name the address at which it runs: --site URL",
            ) from None


def told(reply: Reply) -> str:
    """An answer in a line: its status, and what it says about itself."""
    body = reply.body
    where = reply.headers.get("Location", "")
    said = " ".join(str(body.get(key, "")) for key in ("title", "detail")).strip()
    if where:
        said = f"to {where}"
    return f"{reply.status} {said or body.get('status', '')}".strip()
