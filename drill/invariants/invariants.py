"""What holds after a drill, invariant by invariant. Pure: facts in, violations out.

The first one that is violated fails the drill; all are told.
"""

from collections.abc import Callable
from typing import Final

from drill.invariants.facts import Facts
from drill.invariants.invariant import Invariant, paid_orders
from drill.load.calls import calls_allowed

VERDICT: Final = "Your Oracle verdict: "
HELD_BACK: Final = "was held back"
REFUND: Final = "was refunded"
NOTICE: Final = "About your Oracle verdict"


def judge(facts: Facts) -> list[Invariant]:
    """Each invariant, with what was checked and what was found."""
    found = []
    for name, keep in INVARIANTS.items():
        invariant = Invariant(name)
        keep(invariant, facts)
        found.append(invariant)
    return found


def _none_lost(invariant: Invariant, facts: Facts) -> None:
    known = {order.session for order in facts.site.orders}
    for session, number in facts.outside.paid.items():
        invariant.check(session in known, f"order {number} is paid and unknown")


def _one_outcome(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        wanted = customer.outcome
        refunded_in_time = customer.refund == "soon" and order.status == "refunded"
        invariant.check(
            order.status == wanted or refunded_in_time,
            f"order {order.number} is {order.status}, not {wanted}",
        )
        originals = 1 if order.status == "delivered" else 0
        invariant.check(
            order.originals == originals,
            f"order {order.number} is {order.status} and has {order.originals} original verdicts",
        )


def _emailed_once(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        mail = facts.mail_to(customer, VERDICT)
        copies = {(one.message_id, one.digest) for one in mail}
        wanted = 1 if order.status == "delivered" else 0
        invariant.check(
            len(copies) == wanted,
            f"order {order.number} ({order.status}): {len(copies)} different verdict emails",
        )
        states = {one.state for one in order.emails if one.kind == "verdict"}
        invariant.check(
            states <= {"sent"}, f"order {order.number}: its verdict email is {sorted(states)}"
        )


def _held_back_once(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        held_back = order.status in ("rejected", "failed")
        told = {(one.message_id, one.digest) for one in facts.mail_to(customer, HELD_BACK)}
        invariant.check(
            len(told) == held_back,
            f"order {order.number} ({order.status}): {len(told)} emails that it was held back",
        )
        staff = facts.staff_mail_about(order)
        invariant.check(
            staff <= {one.message_id for one in order.emails},
            f"order {order.number}: staff were told under a Message-ID that is not on record",
        )
        if not held_back:
            continue
        invariant.check(
            order.cases == [order.status], f"order {order.number}: open cases are {order.cases}"
        )
        invariant.check(
            len(staff) == 1, f"order {order.number}: staff were told {len(staff)} times"
        )


def _refund_told(invariant: Invariant, facts: Facts) -> None:
    for customer, order in paid_orders(facts):
        refunded = order.session in facts.outside.refunded
        invariant.check(
            order.refunded == refunded,
            f"order {order.number}: refunded is {order.refunded}, at Stripe {refunded}",
        )
        told = {(one.message_id, one.digest) for one in facts.mail_to(customer, REFUND)}
        invariant.check(
            len(told) == refunded, f"order {order.number}: {len(told)} emails of its refund"
        )


def _nothing_unpaid(invariant: Invariant, facts: Facts) -> None:
    paid = facts.paid
    for customer in facts.customers:
        if customer.number not in paid:
            asked = facts.outside.asked.get(customer.number)
            mail = facts.mail_to(customer, "")
            invariant.check(
                not asked and not mail, f"order {customer.number} is unpaid and was worked on"
            )


def _nothing_leaked(invariant: Invariant, facts: Facts) -> None:
    invariant.checked = sum(order.rejections for order in facts.site.orders)
    invariant.violations += [f"rejected text in {place}" for place in facts.site.leaks]
    invariant.violations += [f"rejected text in {place}" for place in facts.met.leaks]
    for order in facts.site.orders:
        if order.without_evidence:
            invariant.violations.append(f"order {order.number} was rejected without evidence")


def _log_complete(invariant: Invariant, facts: Facts) -> None:
    log = facts.site.log
    invariant.checked = log.lines
    if log.fault:
        invariant.violations.append(log.fault)
    if log.pending:
        invariant.violations.append(f"{log.pending} entries are not in the file")
    invariant.violations += log.unmatched


def _cache_is_stored(invariant: Invariant, facts: Facts) -> None:
    invariant.violations += [
        f"{session} is cached as it is not stored" for session in _wrong(facts)
    ]
    for _, order in paid_orders(facts):
        if order.status == "delivered" and not facts.met.evicted[order.session]:
            invariant.check(order.cached, f"order {order.number} is delivered and not cached")
        elif order.status != "delivered":
            invariant.check(not order.cached, f"order {order.number} is {order.status} and cached")
        else:
            invariant.check(
                order.session not in facts.met.stuck,
                f"order {order.number}: its lost page never comes to an end",
            )


def _wrong(facts: Facts) -> list[str]:
    return facts.site.wrong_cache + facts.met.other_bodies


def _compared(invariant: Invariant, facts: Facts) -> None:
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
        # Where nobody can tell whether it was taken, it is not sent again (R13).
        invariant.check(
            all(one.state in ("sent", "uncertain") for one in notices),
            f"order {order.number}: a notice was not sent",
        )
        mail = {one.message_id for one in facts.mail_to(customer, NOTICE)}
        sent = {one.message_id for one in notices if one.state == "sent"}
        invariant.check(
            sent <= mail <= {one.message_id for one in notices},
            f"order {order.number}: {len(mail)} notices were taken, {len(sent)} sent",
        )


def _answered(invariant: Invariant, facts: Facts) -> None:
    invariant.checked = facts.met.answers.total()
    for status, count in sorted(facts.met.answers.items()):
        if status >= 500 and status != 503:
            invariant.violations.append(f"{count} answers were {status}")


def _discreet(invariant: Invariant, facts: Facts) -> None:
    invariant.check(not facts.said, f"the service log says {', '.join(facts.said[:3])}")


def _quiet(invariant: Invariant, facts: Facts) -> None:
    for what, count in facts.site.waiting.items():
        invariant.check(not count, f"{count} {what} still wait")
    # We have asked for a sweep where we could not wait: that the site does so by itself is its own.
    invariant.check(facts.site.swept, "the site's own schedule has never swept")


INVARIANTS: Final[dict[str, Callable[[Invariant, Facts], None]]] = {
    "Every payment is known": _none_lost,
    "Nothing waits any more": _quiet,
    "Every paid order has the one outcome it was to have": _one_outcome,
    "A verdict is emailed under one Message-ID": _emailed_once,
    "What is held back is told once, and waits for staff": _held_back_once,
    "A refund is known and told once": _refund_told,
    "Nothing is done for who has not paid": _nothing_unpaid,
    "No model call beyond the allowed ones": calls_allowed,
    "Rejected text is in quarantine and nowhere else": _nothing_leaked,
    "The log is complete, its chain is valid": _log_complete,
    "The cache says what is stored": _cache_is_stored,
    "Every regeneration is compared, and told once": _compared,
    "Nobody meets an error of ours": _answered,
    "The service log names no session and no address": _discreet,
}
