"""Stripe's endpoints: authentication, idempotency keys, and one function per endpoint."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import unquote_plus, urlsplit

from sandbox.dispatch import Api, Handler, Route
from sandbox.http_messages import Reply, Request, Response, as_json
from sandbox.state import State
from sandbox.stripe import errors, payments
from sandbox.stripe.checkout import create_session
from sandbox.stripe.errors import StripeError, missing, no_such
from sandbox.stripe.form import decode
from sandbox.stripe.ids import new_id
from sandbox.stripe.listing import page
from sandbox.stripe.parameters import integer, parse_metadata, reject_unknown, text

Params = dict[str, Any]
Endpoint = Callable[[State, Request, Params], dict[str, Any]]

STATUSES: Final = ("complete", "expired", "open")
_PAGED: Final = frozenset({"created", "ending_before", "expand", "limit", "starting_after"})
_SESSION_FILTERS: Final = frozenset(
    "customer customer_account customer_details payment_intent "  # noqa: SIM905 - a word list
    "payment_link status subscription".split()
)
REASONS: Final = ("duplicate", "fraudulent", "requested_by_customer")
_REFUND_PARAMS: Final = frozenset(
    {"payment_intent", "charge", "amount", "reason", "metadata", "expand"}
)

API: Final = Api(
    name="stripe",
    searchable=lambda request: f"{request.target}\n{unquote_plus(request.text)}",
    errors={
        "unauthorized": errors.unauthorized,
        "rate_limited": errors.rate_limited,
        "error": partial(errors.failed, 500),
        "bad_gateway": partial(errors.failed, 502),
        "unavailable": partial(errors.failed, 503),
    },
)


def _endpoint(endpoint: Endpoint) -> Handler:
    """Adds authentication, parameter decoding, idempotency and error responses."""

    def handler(state: State, request: Request) -> Reply:
        try:
            key = _api_key(request)
            form = request.text if request.method == "POST" else urlsplit(request.target).query
            params = decode(form)

            def perform() -> Response:
                with state.stripe.lock:
                    result = copy.deepcopy(endpoint(state, request, params))
                return as_json(result, headers={"Request-Id": new_id("req")})

            idempotency_key = request.headers.get("idempotency-key")
            if request.method != "POST" or not idempotency_key:
                return perform()
            content = f"{request.path}\n".encode() + request.body
            return state.stripe.idempotency.once(f"{key} {idempotency_key}", content, perform)
        except StripeError as error:
            return error.response()

    return handler


def _api_key(request: Request) -> str:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise StripeError("You did not provide an API key.", status=401)
    if not key.startswith(("sk_", "rk_")) or "bad" in key:
        raise StripeError(f"Invalid API Key provided: {key[:7]}****", status=401)
    return key


def _create(state: State, request: Request, params: Params) -> dict[str, Any]:
    session = create_session(params, state.base_url)
    state.stripe.sessions.put(session.id, session)
    return session.data


def _retrieve(state: State, request: Request, params: Params) -> dict[str, Any]:
    return payments.find_session(state, request.segment(3)).data


def _list(state: State, request: Request, params: Params) -> dict[str, Any]:
    reject_unknown(params, _PAGED | _SESSION_FILTERS)
    status = text(params, "status")
    if status and status not in STATUSES:
        raise StripeError(f"Invalid status: must be one of {', '.join(STATUSES)}", param="status")
    sessions = [payments.find_session(state, each.id).data for each in _newest_sessions(state)]
    filters = ("status", "payment_intent")
    return page(sessions, params, kind="checkout.session", url=request.path, filters=filters)


def _newest_sessions(state: State) -> list[Any]:
    stored = state.stripe.sessions.newest_first()
    return sorted(stored, key=lambda each: each.data["created"], reverse=True)


def _expire(state: State, request: Request, params: Params) -> dict[str, Any]:
    session = payments.find_session(state, request.segment(3))
    if payments.expire(state, session) is None:
        raise StripeError(
            'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout '
            f"Session has a status of {session.data['status']}."
        )
    return session.data


def _refund(state: State, request: Request, params: Params) -> dict[str, Any]:
    reject_unknown(params, _REFUND_PARAMS)
    intent, charge_id = text(params, "payment_intent"), text(params, "charge")
    if not intent and not charge_id:
        raise missing("payment_intent")
    if intent:
        charge = state.stripe.charges.get(intent)
    else:
        every = state.stripe.charges.oldest_first()
        charge = next((each for each in every if each.id == charge_id), None)
    if charge is None:
        kind = "payment_intent" if intent else "charge"
        raise no_such(kind, intent or charge_id or "", kind)
    reason = text(params, "reason")
    if reason and reason not in REASONS:
        raise StripeError(f"Invalid reason: must be one of {', '.join(REASONS)}", param="reason")
    return payments.refund(
        state,
        charge,
        amount=integer(params, "amount"),
        reason=reason,
        metadata=parse_metadata(params),
    )


def _retrieve_refund(state: State, request: Request, params: Params) -> dict[str, Any]:
    found = state.stripe.refunds.get(request.segment(2))
    if found is None:
        raise no_such("refund", request.segment(2))
    return found


def _list_refunds(state: State, request: Request, params: Params) -> dict[str, Any]:
    reject_unknown(params, _PAGED | {"charge", "payment_intent"})
    every = state.stripe.refunds.newest_first()
    filters = ("charge", "payment_intent")
    found = page(every, params, kind="refund", url=request.path, filters=filters)
    wanted = params.get("expand", [])
    for path in wanted if isinstance(wanted, list) else [wanted]:
        if path != "data.charge":
            raise StripeError(f"This property cannot be expanded ({path}).", param="expand")
        charges = (state.stripe.charges.get(each["payment_intent"]) for each in found["data"])
        found["data"] = [
            {**each, "charge": charge.as_dict()} if charge else each
            for each, charge in zip(found["data"], charges, strict=True)
        ]
    return found


def _retrieve_event(state: State, request: Request, params: Params) -> dict[str, Any]:
    found = state.stripe.events.get(request.segment(2))
    if found is None:
        raise no_such("event", request.segment(2))
    return found.data


def _list_events(state: State, request: Request, params: Params) -> dict[str, Any]:
    every = (event.data for event in state.stripe.events.newest_first())
    return page(every, params, kind="event", url=request.path, filters=("type",))


_SESSIONS: Final = "/v1/checkout/sessions"
ROUTES: Final = tuple(
    Route(method, pattern, _endpoint(endpoint), API)
    for method, pattern, endpoint in (
        ("POST", _SESSIONS, _create),
        ("GET", _SESSIONS, _list),
        ("GET", f"{_SESSIONS}/[^/]+", _retrieve),
        ("POST", f"{_SESSIONS}/[^/]+/expire", _expire),
        ("POST", "/v1/refunds", _refund),
        ("GET", "/v1/refunds", _list_refunds),
        ("GET", "/v1/refunds/[^/]+", _retrieve_refund),
        ("GET", "/v1/events", _list_events),
        ("GET", "/v1/events/[^/]+", _retrieve_event),
    )
)
