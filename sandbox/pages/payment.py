"""The hosted payment page, in place of Stripe Checkout's."""

from html import escape
from typing import Any

from sandbox.http_messages import BadRequest, Reply, Request, Response, see_other
from sandbox.pages.layout import page
from sandbox.pages.money import money
from sandbox.state import State
from sandbox.stripe import payments
from sandbox.stripe.errors import StripeError
from sandbox.stripe.store import Session


def show(state: State, request: Request) -> Reply:
    session = _find(state, request)
    if isinstance(session, Response):
        return session
    if session.is_open:
        return page("Pay", _checkout(session), navigation=False)
    return _closed(state, session)


def act(state: State, request: Request) -> Reply:
    """Pay, pay with a delayed method, cancel, or settle a delayed payment."""
    session = _find(state, request)
    if isinstance(session, Response):
        return session
    form = request.form()
    action = form.get("action", "pay")
    try:
        if action in ("pay", "delayed"):
            _pay(state, session, form, method="card" if action == "pay" else "delayed")
        elif action in ("settle", "fail"):
            payments.settle(state, session, succeeded=action == "settle")
            return see_other(request.path)
        elif action != "cancel":
            raise BadRequest("action must be pay, delayed, cancel, settle or fail.")
    except payments.InvalidState:
        # Submitted twice, or in two windows: the first submission wins.
        if session.data["status"] != "complete" or action not in ("pay", "delayed"):
            return _closed(state, session)
    target = session.data["cancel_url" if action == "cancel" else "success_url"]
    if not target:
        return see_other(request.path)
    return see_other(str(target).replace("{CHECKOUT_SESSION_ID}", session.id))


def _pay(state: State, session: Session, form: dict[str, str], *, method: payments.Method) -> None:
    answers = {
        name.removeprefix("field-"): value
        for name, value in form.items()
        if name.startswith("field-")
    }
    email = form.get("email", "").strip() or None
    payments.pay(state, session, method=method, email=email, answers=answers)


def _find(state: State, request: Request) -> Session | Response:
    try:
        return payments.find_session(state, request.segment(1))
    except StripeError:
        return page("Not found", _notice("This payment page does not exist."), status=404)


def _checkout(session: Session) -> str:
    data = session.data
    price = escape(money(data["amount_total"], data["currency"]))
    product = escape(session.product)
    description = (
        f'<p class="quiet">{escape(session.description)}</p>' if session.description else ""
    )
    email = escape(data["customer_email"] or "", quote=True)
    cancel = (
        '<button class="link" name="action" value="cancel" formnovalidate>Cancel</button>'
        if data["cancel_url"]
        else ""
    )
    return f"""<div class="checkout">
<section class="card" aria-labelledby="what">
<h1 id="what" style="font-size:1rem;font-weight:550" class="quiet">Pay for {product}</h1>
<p class="amount">{price}</p>{description}
<div class="line"><span>{product}</span><span>{price}</span></div>
<div class="line total"><span>Total due</span><span>{price}</span></div>
</section>
<form class="card" method="post">
<h2>Your details</h2>
<label for="email">Email</label>
<input id="email" name="email" type="email" required autocomplete="email" value="{email}">
{"".join(_custom_field(field) for field in data["custom_fields"])}
<button name="action" value="pay">Pay {price}</button>
<button class="plain" name="action" value="delayed">Pay with a delayed method</button>
<p class="quiet" style="font-size:.875rem">A delayed method, such as a bank debit, completes the
order now; whether the payment succeeds is decided later, on this page.</p>
{cancel}
</form></div>"""


def _custom_field(field: dict[str, Any]) -> str:
    key = escape(str(field.get("key")), quote=True)
    title = escape(str((field.get("label") or {}).get("custom") or field.get("key")))
    limits = field.get(str(field.get("type"))) or {}
    max_length = limits.get("maximum_length") or 255
    value = escape(str(limits.get("value") or limits.get("default_value") or ""), quote=True)
    required = "" if field.get("optional") else " required"
    title += ' <span class="quiet">(optional)</span>' if field.get("optional") else ""
    return (
        f'<label for="field-{key}">{title}</label><input id="field-{key}" name="field-{key}" '
        f'maxlength="{escape(str(max_length), quote=True)}" value="{value}"{required}>'
    )


def _closed(state: State, session: Session) -> Response:
    """The page of a session that no longer accepts a payment."""
    charge = state.stripe.charge_of(session)
    if session.awaits_settlement and charge and charge.status == "pending":
        forms = (
            '<form method="post"><button name="action" value="settle">The bank pays</button>'
            '<button class="plain" name="action" value="fail">The bank declines</button></form>'
        )
        sentence = "The order is placed and the payment is pending. Choose the bank's response."
        return page("Waiting for the bank", _notice(sentence, forms))
    sentences = {
        "paid": "This has been paid.",
        "unpaid": "The bank declined this payment.",
    }
    if session.data["status"] == "expired":
        return page("Expired", _notice("This payment page has expired."), status=410)
    sentence = sentences.get(session.data["payment_status"], "This payment is closed.")
    if charge and charge.refunded:
        refunded = money(charge.refunded, charge.currency)
        sentence += f" {refunded} has been refunded."
    return page("Closed", _notice(sentence))


def _notice(sentence: str, more: str = "") -> str:
    return (
        f'<section class="card done"><h1>{escape(sentence)}</h1>'
        f'{more}<p style="margin:1rem 0 0"><a href="/">All payments in this sandbox</a></p>'
        "</section>"
    )
