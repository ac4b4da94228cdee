"""One request over HTTP with a total deadline: to a running site, or to the sandbox's controls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from audit.core.json_depth import loads
from verdicts.core.errors import SiteAway
from verdicts.http.deadline import within


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that was answered; empty where it was none."""
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
    """The answer, whatever its status; redirects are not followed. Raises SiteAway."""
    try:
        return within(deadline, _request(method, url, params, sent))
    except TimeoutError:
        raise SiteAway(f"no answer within {deadline:.0f} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SiteAway(f"not to be reached ({type(error).__name__})") from None


async def _request(method: str, url: str, params: Mapping[str, str] | None, sent: Any) -> Reply:
    # No time-out of its own: the deadline is for all of it.
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113 - as above
        answer = await client.request(method, url, params=params, json=sent)
    return Reply(answer.status_code, answer.headers, answer.text)
