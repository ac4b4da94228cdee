"""The overview page: payments, mail, faults, requests and events."""

from html import escape
from typing import Final

from sandbox.http_messages import Reply, Request
from sandbox.pages.layout import page, table
from sandbox.pages.money import money
from sandbox.recorder import Recorded
from sandbox.state import State
from sandbox.stripe.store import Session

MAX_ROWS: Final = 25


def show(state: State, request: Request) -> Reply:
    sections = (
        ("Payments", _payments(state)),
        ("Mail", _mail(state)),
        ("Active faults", _faults(state)),
        ("Latest requests", _requests(state)),
        ("Events", _events(state)),
    )
    cards = "".join(
        f'<section class="card"><h2>{title}</h2>{body}</section>' for title, body in sections
    )
    target = state.settings.webhook_url or "none (no webhook URL is set)"
    heading = (
        "<h1>Overview</h1>"
        '<p class="quiet">Stands in for Gemini, Stripe and Microsoft Graph. Webhook receiver: '
        f"<code>{escape(target)}</code>.</p>"
    )
    return page("Overview", heading + _counts(state) + cards)


def _counts(state: State) -> str:
    sessions = state.stripe.sessions.oldest_first()
    paid = sum(each.data["payment_status"] == "paid" for each in sessions)
    counts = (
        ("Sessions", len(sessions)),
        ("Paid", paid),
        ("Messages", len(state.mailbox.received())),
        ("Requests", len(state.requests.entries())),
        ("Pending webhooks", state.webhooks.pending),
    )
    cards = "".join(
        f'<div class="card"><b>{count:,}</b><span class="quiet">{name}</span></div>'
        for name, count in counts
    )
    return f'<div class="figures">{cards}</div>'


def _payments(state: State) -> str:
    newest = list(state.stripe.sessions.newest_first())[:MAX_ROWS]
    headings = ("Session", "Product", "Amount", "Status", "Email")
    return table(headings, [_payment(state, each) for each in newest], "No checkout sessions yet.")


def _payment(state: State, session: Session) -> tuple[str, ...]:
    data = session.data
    charge = state.stripe.charge_of(session)
    email = (data["customer_details"] or {}).get("email") or data["customer_email"] or "–"
    style, label = {
        ("open", "unpaid"): ("warn", "open"),
        ("complete", "paid"): ("good", "paid"),
        ("complete", "unpaid"): ("warn", "waiting for the bank"),
    }.get((data["status"], data["payment_status"]), ("bad", str(data["status"])))
    if charge and charge.status == "failed":
        style, label = "bad", "declined by the bank"
    elif charge and charge.refunded:
        style, label = "warn", "refunded"
    return (
        f'<a class="mono" href="/pay/{escape(session.id)}">{escape(session.id[:20])}…</a>',
        escape(session.product),
        escape(money(data["amount_total"], data["currency"])),
        f'<span class="tag {style}">{escape(label)}</span>',
        escape(str(email)),
    )


def _mail(state: State) -> str:
    newest = state.mailbox.received()[::-1][:MAX_ROWS]
    rows: list[tuple[str, ...]] = [
        (
            f"{each.at:%H:%M:%S}",
            escape(", ".join(each.mail.to)),
            f'<a href="/mailbox/{each.number}">{escape(each.mail.subject or "(no subject)")}</a>',
        )
        for each in newest
    ]
    return table(("Received", "To", "Subject"), rows, "No messages yet.")


def _faults(state: State) -> str:
    rows: list[tuple[str, ...]] = [
        (
            escape(rule["target"]),
            escape(rule["fault"]),
            "unlimited" if rule["times"] is None else f"{rule['times'] - rule['hits']} left",
            f"{rule['share']:.0%}",
            escape(rule["match"] or "everything"),
        )
        for rule in state.faults.as_list()
    ]
    return table(("Target", "Fault", "Times", "Share", "Match"), rows, "No active faults.")


def _requests(state: State) -> str:
    newest = state.requests.entries()[::-1][:MAX_ROWS]
    headings = ("Time", "API", "Request", "Fault")
    return table(headings, [_request(each) for each in newest], "No requests yet.")


def _request(entry: Recorded) -> tuple[str, ...]:
    fault = entry.request.fault.fault if entry.request.fault else ""
    return (
        f"{entry.at:%H:%M:%S}",
        escape(entry.api),
        f'<span class="mono">{escape(entry.request.method)} {escape(entry.request.path)}</span>',
        f'<span class="tag bad">{escape(fault)}</span>' if fault else "",
    )


def _events(state: State) -> str:
    rows: list[tuple[str, ...]] = []
    for event in list(state.stripe.events.newest_first())[:MAX_ROWS]:
        attempts = list(event.deliveries)
        last = f"{len(attempts)} × sent, last: {attempts[-1]['result']}" if attempts else "not sent"
        rows.append((f'<span class="mono">{escape(event.kind)}</span>', escape(last)))
    return table(("Event", "Delivery"), rows, "No events yet.")
