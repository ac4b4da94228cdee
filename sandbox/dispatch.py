"""Request dispatch: find the route, record the request, apply the fault, call the handler.

Every request gets JSON or a page; an error in the sandbox itself is a 500,
with the traceback in the log.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sandbox.faults import Rule, UnknownFault
from sandbox.http_messages import Dribble, HangUp, HttpError, Reply, Request, Response, as_json
from sandbox.settings import BadSetting
from sandbox.state import State

Handler = Callable[[State, Request], Reply]

SLOW_SECONDS: Final = 5.0
DRIBBLE_SECONDS: Final = 0.2

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Api:
    """One of the three APIs: its name, the text that `match` searches, its error responses."""

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
        matching = [route for route in routes if route.regex.fullmatch(request.path)]
        wanted = "GET" if request.method == "HEAD" else request.method
        route = next((each for each in matching if each.method == wanted), None)
        if route is None:
            return _no_route(request, matching)
        return _handle(state, route, request)
    except HttpError as error:
        return error.response()
    except (BadSetting, UnknownFault) as error:
        return as_json({"error": str(error)}, 400)
    except Exception:
        log.exception("the sandbox could not answer %s %s", request.method, request.path)
        return as_json({"error": "The sandbox itself failed; its log says why."}, 500)


def _no_route(request: Request, matching: list[Route]) -> Response:
    if matching:
        allowed = ", ".join(sorted({route.method for route in matching}))
        sentence = f"{request.path} takes {allowed}."
        return as_json({"error": sentence}, 405, {"Allow": allowed})
    return as_json({"error": f"There is nothing at {request.path}."}, 404)


def _handle(state: State, route: Route, request: Request) -> Reply:
    """The handler's reply, or the reply that a fault rule asks for."""
    api = route.api
    if api is None:
        return route.handler(state, request)
    rule = state.fault_for(api.name, api.searchable(request))
    request = replace(request, fault=rule)
    state.requests.add(api.name, request)
    if rule is None:
        return route.handler(state, request)
    if rule.fault in api.errors:
        return _error_response(api, rule)
    return _apply_fault(state, route, request, rule)


def _error_response(api: Api, rule: Rule) -> Response:
    response = api.errors[rule.fault]()
    if rule.seconds is not None and "Retry-After" in response.headers:
        response.headers["Retry-After"] = f"{rule.seconds:g}"
    return response


def _apply_fault(state: State, route: Route, request: Request, rule: Rule) -> Reply:
    """A fault of the transport; faults that only the handler knows are left to it."""
    match rule.fault:
        case "hang_up":
            return HangUp()
        case "hang_up_after":
            route.handler(state, request)
            return HangUp()
        case "dribble":
            return Dribble(rule.delay(DRIBBLE_SECONDS))
        case "slow":
            state.pause(rule.delay(SLOW_SECONDS))
        case "slow_after":
            reply = route.handler(state, request)
            state.pause(rule.delay(SLOW_SECONDS))
            return reply
        case "broken_body":
            return Response(200, b'{"id": "cut o')
    return route.handler(state, request)
