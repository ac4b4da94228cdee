"""An HTTP request with a total deadline, to a running site or the sandbox's control interface."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from audit.core.json_depth import loads
from verdicts.core.errors import SiteUnreachable
from verdicts.http.deadline import run_with_deadline


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> dict[str, Any]:
        """The response's JSON object; empty if it is not one."""
        try:
            value = loads(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def request(
    method: str,
    url: str,
    *,
    deadline: float,
    params: Mapping[str, str] | None = None,
    sent: Any = None,
) -> Reply:
    """The response, whatever its status. Redirects are not followed. Raises SiteUnreachable."""
    try:
        return run_with_deadline(deadline, _request(method, url, params, sent))
    except TimeoutError:
        raise SiteUnreachable(f"no response within {deadline:.0f} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SiteUnreachable(f"unreachable ({type(error).__name__})") from None


async def _request(method: str, url: str, params: Mapping[str, str] | None, sent: Any) -> Reply:
    # No timeout of its own: the deadline covers the whole request.
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113 - as above
        response = await client.request(method, url, params=params, json=sent)
    return Reply(response.status_code, response.headers, response.text)
