"""From a request to a reply: find the route, record, apply the fault, answer.

Whatever is sent here, the answer is JSON or a page; an error of the sandbox
itself is a 500 with one sentence, and its trace goes to the log.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sandbox.faults import UnknownFault
from sandbox.settings import BadSetting
from sandbox.state import State
from sandbox.wire import Dribble, HangUp, Refusal, Reply, Request, Response, as_json

Handler = Callable[[State, Request], Reply]

SLOW_SECONDS: Final = 5.0
DRIBBLE_SECONDS: Final = 0.2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Api:
    """One of the three: its name, where a rule's `match` looks, and how it words errors."""

    name: str
    searchable: Callable[[Request], str]
    errors: Mapping[str, Callable[[], Response]]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    pattern: str
    handler: Handler
    api: Api | None = None  # None: the sandbox's own pages and controls
    regex: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(self.pattern))


def answer(state: State, routes: tuple[Route, ...], request: Request) -> Reply:
    try:
        fitting = [route for route in routes if route.regex.fullmatch(request.path)]
        wanted = "GET" if request.method == "HEAD" else request.method
        route = next((each for each in fitting if each.method == wanted), None)
        if route is None:
            return _nothing_here(request, fitting)
        return _through(state, route, request)
    except Refusal as refusal:
        return refusal.response()
    except (BadSetting, UnknownFault) as error:
        return as_json({"error": str(error)}, 400)
    except Exception:
        log.exception("the sandbox could not answer %s %s", request.method, request.path)
        return as_json({"error": "The sandbox itself failed; its log says why."}, 500)


def _nothing_here(request: Request, fitting: list[Route]) -> Response:
    if fitting:
        allowed = ", ".join(sorted({route.method for route in fitting}))
        sentence = f"{request.path} takes {allowed}."
        return as_json({"error": sentence}, 405, {"Allow": allowed})
    return as_json({"error": f"There is nothing at {request.path}."}, 404)


def _through(state: State, route: Route, request: Request) -> Reply:  # noqa: PLR0911 - one a fault
    """The handler's reply, or what the fault makes of it."""
    api = route.api
    if api is None:
        return route.handler(state, request)
    rule = state.fault_of(api.name, api.searchable(request))
    request = replace(request, fault=rule)
    state.requests.add(api.name, request)
    match rule.fault if rule else None:
        case "hang_up":
            return HangUp()
        case "hang_up_after":
            route.handler(state, request)
            return HangUp()
        case "dribble" if rule:
            return Dribble(rule.wait(DRIBBLE_SECONDS))
        case "slow" if rule:
            state.pause(rule.wait(SLOW_SECONDS))
        case "slow_after" if rule:
            reply = route.handler(state, request)
            state.pause(rule.wait(SLOW_SECONDS))
            return reply
        case "broken_body":
            return Response(200, b'{"id": "cut o')
        case str() as fault if fault in api.errors:
            reply = api.errors[fault]()
            if rule and rule.seconds is not None and "Retry-After" in reply.headers:
                reply.headers["Retry-After"] = f"{rule.seconds:g}"
            return reply
    return route.handler(state, request)
