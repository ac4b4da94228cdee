"""The invariants of a fault scenario, one function each. Pure: facts in, violations out.

A single violation fails the drill; all are reported.
"""

from collections.abc import Callable
from typing import Final

from drill.invariants.facts import Facts
from drill.invariants.invariant import Invariant, paid_orders
from drill.invariants.model_calls import model_calls_within_limits
from verdicts.mail.kinds import KINDS, Kind


def subject(kind: Kind) -> str:
    """The fixed beginning of the subject of every email of this kind."""
    return KINDS[kind].subject.partition("{")[0]


def judge(facts: Facts) -> list[Invariant]:
    """Every invariant with its checks and violations, in order."""
    judged = []
    for name, check in INVARIANTS.items():
        invariant = Invariant(name)
        check(invariant, facts)
        judged.append(invariant)
    return judged


def _every_payment_known(invariant: Invariant, facts: Facts) -> None:
    known = {order.session for order in facts.site.orders}
    for session, number in facts.sandbox.paid.items():
        invariant.check(session in known, f"order {number} is paid, but has no row")


def _nothing_pending(invariant: Invariant, facts: Facts) -> None:
    for what, count in facts.site.pending.items():
        invariant.check(not count, f"{count} {what} are still pending")
    # The drill queues sweeps to save time: the site's own schedule must have queued one as well.
    invariant.check(facts.site.swept, "the site's own schedule has never queued a sweep")


def _expected_outcome(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        expected = customer.expected_outcome
        refunded_in_time = customer.refund == "after_payment" and order.status == "refunded"
        invariant.check(
            order.status == expected or refunded_in_time,
            f"order {order.number} is {order.status}, not {expected}",
        )
        originals = 1 if order.status == "delivered" else 0
        invariant.check(
            order.originals == originals,
            f"order {order.number} is {order.status} and has {order.originals} original verdicts",
        )


def _verdict_emailed_once(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        mail = facts.mail_to(customer, subject(Kind.VERDICT))
        distinct = {(one.message_id, one.digest) for one in mail}
        expected = 1 if order.status == "delivered" else 0
        invariant.check(
            len(distinct) == expected,
            f"order {order.number} ({order.status}): {len(distinct)} different verdict emails",
        )
        states = {one.state for one in order.emails if one.kind == "verdict"}
        invariant.check(
            states <= {"sent"}, f"order {order.number}: its verdict email is {sorted(states)}"
        )


def _held_back_reported_once(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        held_back = order.status in ("rejected", "failed")
        mail = facts.mail_to(customer, subject(Kind.HELD_BACK))
        distinct = {(one.message_id, one.digest) for one in mail}
        invariant.check(
            len(distinct) == held_back,
            f"order {order.number} ({order.status}): {len(distinct)} emails that it was held back",
        )
        staff = facts.staff_mail_about(order)
        invariant.check(
            staff <= {one.message_id for one in order.emails},
            f"order {order.number}: a staff email has a Message-ID that is not in the outbox",
        )
        if not held_back:
            continue
        invariant.check(
            order.open_cases == [order.status],
            f"order {order.number}: its open cases are {order.open_cases}",
        )
        invariant.check(len(staff) == 1, f"order {order.number}: {len(staff)} staff emails")


def _refunded_once(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        refunded = order.session in facts.sandbox.refunded
        invariant.check(
            order.refunded == refunded,
            f"order {order.number}: refunded is {order.refunded}, at Stripe {refunded}",
        )
        mail = facts.mail_to(customer, subject(Kind.REFUND))
        distinct = {(one.message_id, one.digest) for one in mail}
        invariant.check(
            len(distinct) == refunded, f"order {order.number}: {len(distinct)} refund emails"
        )


def _unpaid_untouched(invariant: Invariant, facts: Facts) -> None:
    paid = facts.paid
    for customer in facts.customers:
        if customer.number not in paid:
            requests = facts.sandbox.model_requests.get(customer.number)
            mail = facts.mail_to(customer, "")
            invariant.check(
                not requests and not mail, f"order {customer.number} is unpaid, but was processed"
            )


def _rejected_text_contained(invariant: Invariant, facts: Facts) -> None:
    invariant.checked = sum(order.rejections for order in facts.site.orders)
    leaks = facts.site.leaks + facts.clients.leaks
    invariant.violations += [f"rejected text in {place}" for place in leaks]
    for order in facts.site.orders:
        if order.without_evidence:
            invariant.violations.append(f"order {order.number} was rejected without evidence")


def _log_complete(invariant: Invariant, facts: Facts) -> None:
    log = facts.site.log
    invariant.checked = log.lines
    if log.defect:
        invariant.violations.append(log.defect)
    if log.pending:
        invariant.violations.append(f"{log.pending} entries are not in the file")
    invariant.violations += log.unmatched


def _cache_matches(invariant: Invariant, facts: Facts) -> None:
    invariant.violations += [
        f"the cached verdict of {session} differs from the stored one"
        for session in facts.site.wrong_cache + facts.clients.wrong_hits
    ]
    for _, order in paid_orders(facts):
        if order.status == "delivered" and not facts.clients.evicted[order.session]:
            invariant.check(order.cached, f"order {order.number} is delivered, but not cached")
        elif order.status != "delivered":
            invariant.check(not order.cached, f"order {order.number} is {order.status}, but cached")
        else:
            invariant.check(
                order.session not in facts.clients.never_final,
                f"order {order.number}: its evicted page is neither regenerated nor refused",
            )


def _regenerations_compared(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        if order.regenerations:
            invariant.check(
                not order.uncompared, f"order {order.number}: a regeneration was never compared"
            )
        notices = [one for one in order.emails if one.kind == "divergence"]
        invariant.check(
            len(notices) == order.contradictions,
            f"order {order.number}: {len(notices)} notices, {order.contradictions} contradictions",
        )
        # `uncertain`: the server may have accepted it, so it is not sent again (R13).
        invariant.check(
            all(one.state in ("sent", "uncertain") for one in notices),
            f"order {order.number}: a notice was not sent",
        )
        accepted = {one.message_id for one in facts.mail_to(customer, subject(Kind.DIVERGENCE))}
        sent = {one.message_id for one in notices if one.state == "sent"}
        invariant.check(
            sent <= accepted <= {one.message_id for one in notices},
            f"order {order.number}: {len(accepted)} notices were accepted, {len(sent)} sent",
        )


def _no_server_errors(invariant: Invariant, facts: Facts) -> None:
    invariant.checked = facts.clients.responses.total()
    for status, count in sorted(facts.clients.responses.items()):
        if status >= 500 and status != 503:
            invariant.violations.append(f"{count} responses were {status}")


def _service_log_clean(invariant: Invariant, facts: Facts) -> None:
    leaks = facts.service_log_leaks
    invariant.check(not leaks, f"the service log contains {', '.join(leaks[:3])}")


INVARIANTS: Final[dict[str, Callable[[Invariant, Facts], None]]] = {
    "Every payment has an order": _every_payment_known,
    "No work is left pending": _nothing_pending,
    "Every paid order has exactly the expected outcome": _expected_outcome,
    "A verdict is emailed under one Message-ID": _verdict_emailed_once,
    "A held-back order is reported once and has one open case": _held_back_reported_once,
    "A refund is recorded and emailed once": _refunded_once,
    "Unpaid orders are not processed": _unpaid_untouched,
    "Model calls stay within their limits": model_calls_within_limits,
    "Rejected text is only in quarantine": _rejected_text_contained,
    "The log is complete and its chain valid": _log_complete,
    "The cache matches the stored verdicts": _cache_matches,
    "Every regeneration is compared, every contradiction notified": _regenerations_compared,
    "No server errors but 503": _no_server_errors,
    "The service log has no session ids or addresses": _service_log_clean,
}
