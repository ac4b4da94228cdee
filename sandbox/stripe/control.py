"""The /_control/ interface for payments: create sessions, pay, settle, refund, send events."""

import copy
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from sandbox.control import number
from sandbox.dispatch import Route
from sandbox.http_messages import BadRequest, Reply, Request, as_json
from sandbox.state import State
from sandbox.stripe import payments
from sandbox.stripe.errors import no_such
from sandbox.stripe.events import Event
from sandbox.stripe.session import blank_session, customer_details
from sandbox.stripe.store import Session

MAX_RESENDS: Final = 200
_SESSION_ID: Final = re.compile(r"cs_(test|live)_[A-Za-z0-9]{8,200}")
_TYPES: Final[dict[str, type]] = {
    "amount_total": int,
    "created": int,
    "expires_at": int,
    "currency": str,
    "metadata": dict,
    "custom_fields": list,
    "payment_status": str,
    "status": str,
}


def list_sessions(state: State, request: Request) -> Reply:
    with state.stripe.lock:
        kept = [each.data for each in state.stripe.sessions.oldest_first()]
        return as_json({"sessions": kept})


def create_session(state: State, request: Request) -> Reply:
    """A session that the product did not create: any field can be set, without validation."""
    given = request.json()
    for name, kind in _TYPES.items():
        if name in given and type(given[name]) is not kind:
            raise BadRequest(f"{name} must be of type {kind.__name__}.")
    if "id" in given and not _SESSION_ID.fullmatch(str(given["id"])):
        raise BadRequest(f"id must match {_SESSION_ID.pattern}.")
    data = blank_session(state.base_url)
    if "id" in given:
        data["url"] = f"{state.base_url}/pay/{given['id']}"
    if given.get("payment_status") == "paid":
        data |= {"status": "complete", "url": None}
    data |= {"amount_total": 500, **given}
    data["amount_subtotal"] = given.get("amount_subtotal", data["amount_total"])
    if data["customer_email"] and not data["customer_details"]:
        data["customer_details"] = customer_details(data["customer_email"])
    product = data.pop("product", "External order")
    session = Session(data, str(product))
    with state.stripe.lock:
        state.stripe.sessions.put(session.id, session)
        if data["payment_status"] == "paid":
            payments.record_charge(state, session, "succeeded")
        return as_json(data, 201)


def pay(state: State, request: Request) -> Reply:
    given = request.json()
    method = given.get("method", "card")
    email = given.get("email")
    answers = given.get("custom_fields", {})
    if method not in ("card", "delayed"):
        raise BadRequest("method must be card or delayed.")
    if email is not None and not isinstance(email, str):
        raise BadRequest("email must be a text.")
    if not isinstance(answers, dict) or not all(isinstance(v, str) for v in answers.values()):
        raise BadRequest("custom_fields must give a text for each key.")
    session = payments.find_session(state, request.segment(2))
    event = payments.pay(
        state,
        session,
        method=method,
        email=email,
        answers=answers,
        announce=given.get("announce", True) is not False,
    )
    return _outcome(state, session, event)


def settle(state: State, request: Request) -> Reply:
    outcome = request.json().get("outcome", "succeeded")
    if outcome not in ("succeeded", "failed"):
        raise BadRequest("outcome must be succeeded or failed.")
    session = payments.find_session(state, request.segment(2))
    event = payments.settle(state, session, succeeded=outcome == "succeeded")
    return _outcome(state, session, event)


def expire(state: State, request: Request) -> Reply:
    session = payments.find_session(state, request.segment(2))
    event = payments.expire(state, session)
    if event is None:
        raise payments.InvalidState(f"This Checkout Session is {session.data['status']}.")
    return _outcome(state, session, event)


def refund(state: State, request: Request) -> Reply:
    """A refund by session, as made in Stripe's dashboard; returns the id of its event too."""
    given = request.json()
    amount = number(given, "amount", 0) if given.get("amount") is not None else None
    session = payments.find_session(state, request.segment(2))
    charge = state.stripe.charge_of(session)
    if charge is None:
        raise BadRequest("This Checkout Session has not been paid.")
    refunded = payments.refund(state, charge, amount=amount)
    events = state.stripe.events.newest_first()
    event = next(one for one in events if one.data["data"]["object"].get("id") == charge.id)
    return as_json({**refunded, "event_id": event.id})


def fail_refund(state: State, request: Request) -> Reply:
    charge = state.stripe.charge_of(payments.find_session(state, request.segment(2)))
    failed = payments.fail_refund(state, charge) if charge else None
    if failed is None:
        raise BadRequest("This Checkout Session has no refund that could fail.")
    return as_json(failed)


def list_events(state: State, request: Request) -> Reply:
    every = state.stripe.events.oldest_first()
    return as_json(
        {"events": [{**each.data, "deliveries": list(each.deliveries)} for each in every]}
    )


def create_event(state: State, request: Request) -> Reply:
    """An event of any type about any object, delivered like every other."""
    given = request.json()
    kind, obj = given.get("type"), given.get("object")
    if not isinstance(kind, str) or not isinstance(obj, dict):
        raise BadRequest("An event needs a type (text) and an object.")
    event = state.stripe.record_event(kind, obj)
    state.webhooks.send(event)
    return as_json(event.data, 201)


def resend(state: State, request: Request) -> Reply:
    """Send an event again, `count` times, sequentially or in parallel."""
    event = state.stripe.events.get(request.segment(2))
    if event is None:
        raise no_such("event", request.segment(2))
    given = request.json()
    count = number(given, "count", 1, maximum=MAX_RESENDS)
    if given.get("parallel") is True and count:
        with ThreadPoolExecutor(count) as pool:
            results = list(pool.map(state.webhooks.send_now, [event] * count))
    else:
        results = [state.webhooks.send_now(event) for _ in range(count)]
    return as_json({"results": results})


def _outcome(state: State, session: Session, event: Event) -> Reply:
    with state.stripe.lock:
        result: dict[str, Any] = {"session": copy.deepcopy(session.data), "event_id": event.id}
    return as_json(result)


ROUTES: Final = (
    Route("GET", "/_control/sessions", list_sessions),
    Route("POST", "/_control/sessions", create_session),
    Route("POST", "/_control/pay/[^/]+", pay),
    Route("POST", "/_control/settle/[^/]+", settle),
    Route("POST", "/_control/expire/[^/]+", expire),
    Route("POST", "/_control/refund/[^/]+", refund),
    Route("POST", "/_control/fail_refund/[^/]+", fail_refund),
    Route("GET", "/_control/events", list_events),
    Route("POST", "/_control/events", create_event),
    Route("POST", "/_control/events/[^/]+/resend", resend),
)
