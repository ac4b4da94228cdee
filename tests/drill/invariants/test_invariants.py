"""Each invariant, kept and broken: a drill that cannot fail says nothing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from drill.invariants.facts import (
    CustomerFacts,
    Email,
    Facts,
    LogFacts,
    Mail,
    OrderFacts,
    OutsideFacts,
    SiteFacts,
)
from drill.invariants.invariants import INVARIANTS, judge
from drill.load.plan import VERDICT, Customer, customers

PLAIN = replace(
    customers(1, 1)[0], pays="card", event=None, model=(), mail=(), returns="", refund=""
)
BUYER = replace(PLAIN, number=1, answer=VERDICT)
RETURNS = replace(PLAIN, number=2, answer=VERDICT, returns="variance")
HELD = replace(PLAIN, number=3, answer="malformed")
REFUSED = replace(PLAIN, number=4, answer="bad_request")
LEAVES = replace(PLAIN, number=5, pays="leaves", answer=VERDICT)
REFUNDED = replace(PLAIN, number=6, answer=VERDICT, refund="first")


def order(customer: Customer, status: str, **changes: object) -> OrderFacts:
    delivered = status == "delivered"
    refunded = status == "refunded"
    kinds = ("verdict",) if delivered else ("refund",) if refunded else ("held_back", "staff")
    plain = OrderFacts(
        pk=100 + customer.number,
        number=customer.number,
        session=f"cs_{customer.number}",
        status=status,
        refunded=refunded,
        attempts=int(not refunded),
        regens=0,
        originals=int(delivered),
        regenerations=0,
        uncompared=0,
        contradictions=0,
        rejections=int(status == "rejected"),
        without_evidence=0,
        retired_calls=0,
        timed_out=0,
        cached=delivered,
        cases=[] if delivered or refunded else [status],
        emails=[Email(kind, "sent", f"<{kind}.{customer.number}>") for kind in kinds],
    )
    return replace(plain, **changes)


def mail(customer: Customer, kind: str, subject: str, **changes: str) -> Mail:
    plain = Mail(customer.email, f"[SANDBOX] {subject}", f"<{kind}.{customer.number}>", "text")
    return replace(plain, **changes)


def verdict_mail(customer: Customer, **changes: str) -> Mail:
    return mail(customer, "verdict", "Your Oracle verdict: GREEN", **changes)


def held_back_mail(customer: Customer, **changes: str) -> Mail:
    return mail(customer, "held_back", "Your Oracle verdict was held back", **changes)


def refund_mail(customer: Customer, **changes: str) -> Mail:
    return mail(customer, "refund", "Your Oracle payment was refunded", **changes)


def staff_mail(customer: Customer, **changes: str) -> Mail:
    told = mail(customer, "staff", "Oracle: an order needs review", **changes)
    return replace(told, to="staff@oracle.example", about=100 + customer.number)


def sound() -> Facts:
    return Facts(
        customers=[BUYER, RETURNS, HELD, REFUSED, LEAVES, REFUNDED],
        site=SiteFacts(
            orders=[
                order(BUYER, "delivered"),
                order(RETURNS, "delivered", regens=1, regenerations=1),
                order(HELD, "rejected"),
                order(REFUSED, "failed"),
                order(REFUNDED, "refunded"),
            ],
            log=LogFacts(lines=5, pending=0, fault="", unmatched=[]),
            etags={},
            wrong_cache=[],
            leaks=[],
            waiting={"orders": 0, "jobs": 0},
            swept=True,
            told_retired=1,
        ),
        outside=OutsideFacts(
            paid={"cs_1": 1, "cs_2": 2, "cs_3": 3, "cs_4": 4, "cs_6": 6},
            refunded={"cs_6"},
            mail=[
                verdict_mail(BUYER),
                verdict_mail(BUYER),  # a copy is no second one
                verdict_mail(RETURNS),
                held_back_mail(HELD),
                held_back_mail(REFUSED),
                staff_mail(HELD),
                staff_mail(REFUSED),
                refund_mail(REFUNDED),
            ],
            asked={
                1: Counter({"": 1}),
                2: Counter({"": 1, "variance": 1}),
                3: Counter({"malformed": 1}),
                4: Counter({"bad_request": 1}),
            },
        ),
        met=CustomerFacts(answers=Counter({200: 3, 503: 1, 0: 2}), evicted=Counter({"cs_2": 1})),
        said=[],
        at_risk=0,
    )


def broken(facts: Facts) -> list[str]:
    return [one.name for one in judge(facts) if one.violations]


def with_order(number: int, **changes: object) -> Callable[[Facts], Facts]:
    def change(facts: Facts) -> Facts:
        orders = [
            replace(one, **changes) if one.number == number else one for one in facts.site.orders
        ]
        return replace(facts, site=replace(facts.site, orders=orders))

    return change


def with_site(**changes: object) -> Callable[[Facts], Facts]:
    return lambda facts: replace(facts, site=replace(facts.site, **changes))


def with_mail(*more: Mail) -> Callable[[Facts], Facts]:
    return lambda facts: replace(
        facts, outside=replace(facts.outside, mail=[*facts.outside.mail, *more])
    )


def without_mail(message_id: str) -> Callable[[Facts], Facts]:
    def change(facts: Facts) -> Facts:
        left = [one for one in facts.outside.mail if one.message_id != message_id]
        return replace(facts, outside=replace(facts.outside, mail=left))

    return change


def with_asked(number: int, **faults: int) -> Callable[[Facts], Facts]:
    counted = Counter({name.replace("good", ""): count for name, count in faults.items()})
    return lambda facts: replace(
        facts, outside=replace(facts.outside, asked={**facts.outside.asked, number: counted})
    )


def doubled() -> Callable[[Facts], Facts]:
    """The first order was answered in each of two attempts."""
    return lambda facts: with_asked(1, good=2)(with_order(1, attempts=2)(facts))


def notice_mail(**changes: str) -> Mail:
    return mail(RETURNS, "divergence", "About your Oracle verdict: GREEN stands", **changes)


def notified(
    *taken: Mail, state: str = "sent", contradictions: int = 1
) -> Callable[[Facts], Facts]:
    """The second order was contradicted, and its customer is told so."""
    emails = [Email("verdict", "sent", "<verdict.2>"), Email("divergence", state, "<divergence.2>")]
    change = with_order(2, contradictions=contradictions, emails=emails)
    return lambda facts: with_mail(*taken)(change(facts))


def with_met(**changes: object) -> Callable[[Facts], Facts]:
    return lambda facts: replace(facts, met=replace(facts.met, **changes))


def test_all_invariants_are_kept_by_a_sound_site():
    found = judge(sound())
    assert [one.name for one in found] == list(INVARIANTS)
    assert [one.violations for one in found if one.violations] == []
    assert all(one.checked for one in found)


LOST = "Every payment is known"
WAITS = "Nothing waits any more"
OUTCOME = "Every paid order has the one outcome it was to have"
EMAILED = "A verdict is emailed under one Message-ID"
HELD_BACK = "What is held back is told once, and waits for staff"
REFUND = "A refund is known and told once"
UNPAID = "Nothing is done for who has not paid"
CALLS = "No model call beyond the allowed ones"
LEAKED = "Rejected text is in quarantine and nowhere else"
LOG = "The log is complete, its chain is valid"
CACHE = "The cache says what is stored"
COMPARED = "Every regeneration is compared, and told once"
ERRORS = "Nobody meets an error of ours"
DISCREET = "The service log names no session and no address"

BROKEN = [
    (LOST, with_site(orders=sound().site.orders[1:])),
    (WAITS, with_site(waiting={"orders": 1})),
    (WAITS, with_site(swept=False)),
    (OUTCOME, with_order(3, status="failed", cases=["failed"])),  # not the one it was to have
    (OUTCOME, with_order(1, originals=2)),
    (OUTCOME, with_order(3, originals=1)),
    (EMAILED, with_mail(verdict_mail(BUYER, message_id="<another>"))),
    (EMAILED, with_mail(verdict_mail(BUYER, digest="another text"))),
    (EMAILED, without_mail("<verdict.1>")),
    (EMAILED, with_mail(verdict_mail(HELD))),
    (EMAILED, with_order(1, emails=[Email("verdict", "pending", "<verdict.1>")])),
    (HELD_BACK, without_mail("<held_back.3>")),
    (HELD_BACK, with_mail(held_back_mail(HELD, message_id="<again>"))),
    (HELD_BACK, with_mail(held_back_mail(BUYER))),
    (HELD_BACK, with_order(3, cases=[])),
    (HELD_BACK, with_order(4, cases=["failed", "failed"])),
    (HELD_BACK, without_mail("<staff.4>")),
    (HELD_BACK, with_mail(staff_mail(HELD, message_id="<again>"))),
    (HELD_BACK, with_mail(staff_mail(BUYER, message_id="<unheard-of>"))),
    (REFUND, with_order(6, refunded=False)),
    (REFUND, with_order(1, refunded=True)),
    (REFUND, without_mail("<refund.6>")),
    (REFUND, with_mail(refund_mail(REFUNDED, message_id="<again>"))),
    (REFUND, with_mail(refund_mail(BUYER))),
    (EMAILED, with_mail(verdict_mail(REFUNDED))),  # the money was back by then
    (HELD_BACK, with_mail(held_back_mail(REFUNDED))),
    (UNPAID, with_asked(5, good=1)),
    (UNPAID, with_mail(verdict_mail(LEAVES))),
    (CALLS, with_asked(1, error=4)),
    (CALLS, with_asked(1, good=2)),  # in one attempt
    (CALLS, with_asked(1, broken_body=2)),  # each is the end of a call
    (CALLS, doubled()),  # an answer thrown away, and nobody was killed
    (CALLS, with_order(1, attempts=9)),
    (CALLS, with_order(1, regens=1)),  # nobody had lost that page
    (LEAKED, with_site(leaks=["Verdict.payload"])),
    (LEAKED, with_met(leaks=["an answer of /api/verdict"])),
    (LEAKED, with_order(3, without_evidence=1)),
    (LOG, with_site(log=LogFacts(5, 0, "oracle_log.jsonl line 3: torn", []))),
    (LOG, with_site(log=LogFacts(5, 2, "", []))),
    (LOG, with_site(log=LogFacts(5, 0, "", ["an entry has 2 lines"]))),
    (CACHE, with_site(wrong_cache=["cs_1"])),
    (CACHE, with_met(other_bodies=["cs_1"])),
    (CACHE, with_order(1, cached=False)),
    (CACHE, with_order(3, cached=True)),
    (CACHE, with_met(stuck=["cs_2"])),
    (COMPARED, with_order(2, uncompared=1)),
    (COMPARED, with_mail(notice_mail())),  # of what is no contradiction
    (COMPARED, with_order(2, contradictions=1)),
    (COMPARED, notified(notice_mail(message_id="<another>"))),
    (COMPARED, notified()),  # said to be sent, and nobody took it
    (COMPARED, notified(notice_mail(), state="failed")),
    (COMPARED, notified(notice_mail(), contradictions=2)),
    (ERRORS, with_met(answers=Counter({500: 1}))),
    (DISCREET, lambda facts: replace(facts, said=["cs_test_"])),
]


@pytest.mark.parametrize(("invariant", "change"), BROKEN)
def test_a_broken_invariant_is_found_and_no_other(invariant, change):
    broken = [one for one in judge(change(sound())) if one.violations]
    assert [one.name for one in broken] == [invariant]


def test_an_order_that_came_to_nothing_is_found():
    broken = {one.name for one in judge(with_order(1, status="generating")(sound()))
              if one.violations}  # fmt: skip
    assert {OUTCOME, EMAILED} <= broken


def test_who_is_heard_to_be_refunded_first_gets_no_verdict():
    judged = with_order(6, status="delivered", originals=1, cached=True, attempts=1)(sound())
    assert broken(with_mail(verdict_mail(REFUNDED))(judged)) == [OUTCOME]


def test_a_refund_that_comes_soon_may_come_before_the_verdict_or_after_it():
    facts = sound()
    soon = [replace(one, refund="soon" * bool(one.refund)) for one in facts.customers]
    facts = replace(facts, customers=soon)
    assert broken(facts) == []
    late = with_order(6, status="delivered", originals=1, cached=True)(facts)
    assert broken(with_mail(verdict_mail(REFUNDED))(late)) == []
    assert broken(with_order(6, status="failed", cases=["failed"])(facts)) == [OUTCOME, HELD_BACK]


def test_every_invariant_can_be_broken():
    assert {invariant for invariant, _ in BROKEN} == set(INVARIANTS)


def test_an_answer_that_died_with_its_worker_is_allowed():
    assert broken(replace(doubled()(sound()), at_risk=1)) == []


def test_two_answers_in_one_attempt_are_found_however_many_workers_died():
    assert broken(replace(with_asked(1, good=2)(sound()), at_risk=100)) == [CALLS]


def test_an_answer_that_came_too_late_is_allowed():
    late = with_order(1, attempts=2, timed_out=1)(doubled()(sound()))
    assert broken(late) == []
    slow = with_asked(1, good=2, slow=1)(with_order(1, attempts=3, timed_out=1)(sound()))
    assert broken(slow) == [CALLS]  # that call waited for another request


def test_a_retired_model_gives_the_attempt_back():
    facts = with_asked(1, good=1, not_found=2)(with_order(1, retired_calls=2)(sound()))
    assert broken(facts) == []


def test_found_and_allowed_answers_are_told():
    [told] = [one.note for one in judge(replace(doubled()(sound()), at_risk=7)) if one.note]
    assert told == (
        "1 answers were thrown away; 7 could be lost with the process that held them, "
        "0 came too late"
    )


def test_a_contradiction_is_told_once_and_perhaps_never_where_nobody_can_tell():
    assert broken(notified(notice_mail())(sound())) == []
    assert broken(notified(state="uncertain")(sound())) == []
    assert broken(notified(notice_mail(), state="uncertain")(sound())) == []


def test_a_full_quota_is_no_call():
    facts = with_asked(1, good=1, rate_limited=20)(sound())
    assert not [one for one in judge(facts) if one.violations]


def test_an_evicted_page_may_stay_away():
    facts = with_order(2, cached=False)(sound())
    assert not [one for one in judge(facts) if one.violations]
