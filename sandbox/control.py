"""The /_control/ interface: faults, settings, recorded requests and messages.

Tests and drills both use it, over HTTP.
"""

from dataclasses import asdict
from typing import Any, Final

from sandbox.dispatch import Route
from sandbox.faults import KNOWN
from sandbox.http_messages import BadRequest, Reply, Request, as_json
from sandbox.state import State

_DONE: Final = {"done": True}


def health(state: State, request: Request) -> Reply:
    return as_json(
        {
            "ok": True,
            "url": state.base_url,
            "settings": asdict(state.settings),
            "requests": len(state.requests.entries()),
            "messages": len(state.mailbox.received()),
            "sessions": len(state.stripe.sessions),
            "events": len(state.stripe.events),
            "webhooks_pending": state.webhooks.pending,
        }
    )


def change_settings(state: State, request: Request) -> Reply:
    state.settings.update(request.json())
    return as_json(asdict(state.settings))


def reset(state: State, request: Request) -> Reply:
    state.reset()
    return as_json(_DONE)


def add_fault(state: State, request: Request) -> Reply:
    return as_json(asdict(state.faults.add(request.json())), 201)


def list_faults(state: State, request: Request) -> Reply:
    return as_json({"faults": state.faults.as_list(), "known": KNOWN})


def clear_faults(state: State, request: Request) -> Reply:
    state.faults.clear()
    return as_json(_DONE)


def remove_fault(state: State, request: Request) -> Reply:
    wanted = number({"id": request.segment(2)}, "id", 0)
    return as_json({"removed": state.faults.remove(wanted)})


def list_requests(state: State, request: Request) -> Reply:
    target = request.query.get("target")
    if target is not None and target not in ("gemini", "stripe", "graph"):
        raise BadRequest("target must be gemini, stripe or graph.")
    entries = state.requests.entries(api=target, after=number(request.query, "after", 0))
    limit = number(request.query, "limit", len(entries))
    return as_json({"requests": [entry.as_dict() for entry in entries[:limit]]})


def clear_requests(state: State, request: Request) -> Reply:
    state.requests.clear()
    return as_json(_DONE)


def list_messages(state: State, request: Request) -> Reply:
    received = state.mailbox.received(to=request.query.get("to"))
    return as_json({"messages": [each.as_dict() for each in received]})


def clear_messages(state: State, request: Request) -> Reply:
    state.mailbox.clear()
    return as_json(_DONE)


def expire_tokens(state: State, request: Request) -> Reply:
    state.tokens.clear()
    return as_json(_DONE)


def number(values: dict[str, Any], name: str, default: int, *, maximum: int = 10**9) -> int:
    """A non-negative integer, given as a number or as digits; else BadRequest."""
    value = values.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if type(value) is not int or not 0 <= value <= maximum:
        raise BadRequest(f"{name} must be a whole number from 0 to {maximum}.")
    return value


ROUTES: Final = (
    Route("GET", "/_control/health", health),
    Route("POST", "/_control/settings", change_settings),
    Route("POST", "/_control/reset", reset),
    Route("GET", "/_control/faults", list_faults),
    Route("POST", "/_control/faults", add_fault),
    Route("DELETE", "/_control/faults", clear_faults),
    Route("DELETE", "/_control/faults/[^/]+", remove_fault),
    Route("GET", "/_control/requests", list_requests),
    Route("DELETE", "/_control/requests", clear_requests),
    Route("GET", "/_control/messages", list_messages),
    Route("DELETE", "/_control/messages", clear_messages),
    Route("POST", "/_control/tokens/expire", expire_tokens),
)
