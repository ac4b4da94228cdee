"""Each invariant of a fault scenario, held and violated."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from drill.invariants.facts import (
    ClientFacts,
    Email,
    Facts,
    LogFacts,
    Mail,
    OrderFacts,
    SandboxFacts,
    SiteFacts,
)
from drill.invariants.invariants import INVARIANTS, judge
from drill.load.workload import REFUSED, VERDICT, Customer, plan_customers, without_faults

PLAIN = without_faults(plan_customers(1, 1)[0])
BUYER = replace(PLAIN, number=1, model_answer=VERDICT)
REGENERATED = replace(PLAIN, number=2, model_answer=VERDICT, regeneration="variance")
REJECTED = replace(PLAIN, number=3, model_answer="malformed")
FAILED = replace(PLAIN, number=4, model_answer=REFUSED)
ABANDONED = replace(PLAIN, number=5, payment="abandoned", model_answer=VERDICT)
REFUNDED = replace(PLAIN, number=6, model_answer=VERDICT, refund="before_payment_event")


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
        open_cases=[] if delivered or refunded else [status],
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
    email = mail(customer, "staff", "Oracle: an order needs review", **changes)
    return replace(email, to="staff@oracle.example", order=100 + customer.number)


def sound() -> Facts:
    return Facts(
        customers=[BUYER, REGENERATED, REJECTED, FAILED, ABANDONED, REFUNDED],
        site=SiteFacts(
            orders=[
                order(BUYER, "delivered"),
                order(REGENERATED, "delivered", regens=1, regenerations=1),
                order(REJECTED, "rejected"),
                order(FAILED, "failed"),
                order(REFUNDED, "refunded"),
            ],
            log=LogFacts(lines=5, pending=0, defect="", unmatched=[]),
            etags={},
            wrong_cache=[],
            leaks=[],
            pending={"orders": 0, "jobs": 0},
            swept=True,
        ),
        sandbox=SandboxFacts(
            paid={"cs_1": 1, "cs_2": 2, "cs_3": 3, "cs_4": 4, "cs_6": 6},
            refunded={"cs_6"},
            mail=[
                verdict_mail(BUYER),
                verdict_mail(BUYER),  # a copy is allowed
                verdict_mail(REGENERATED),
                held_back_mail(REJECTED),
                held_back_mail(FAILED),
                staff_mail(REJECTED),
                staff_mail(FAILED),
                refund_mail(REFUNDED),
            ],
            model_requests={
                1: Counter({"": 1}),
                2: Counter({"": 1, "variance": 1}),
                3: Counter({"malformed": 1}),
                4: Counter({"bad_request": 1}),
            },
        ),
        clients=ClientFacts(
            responses=Counter({200: 3, 503: 1, 0: 2}), evicted=Counter({"cs_2": 1})
        ),
        service_log_leaks=[],
        answers_at_risk=0,
    )


def violated(facts: Facts) -> list[str]:
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
        facts, sandbox=replace(facts.sandbox, mail=[*facts.sandbox.mail, *more])
    )


def without_mail(message_id: str) -> Callable[[Facts], Facts]:
    def change(facts: Facts) -> Facts:
        left = [one for one in facts.sandbox.mail if one.message_id != message_id]
        return replace(facts, sandbox=replace(facts.sandbox, mail=left))

    return change


def with_requests(number: int, **faults: int) -> Callable[[Facts], Facts]:
    """`good`: requests without a fault."""
    counted = Counter({name.replace("good", ""): count for name, count in faults.items()})

    def change(facts: Facts) -> Facts:
        requests = {**facts.sandbox.model_requests, number: counted}
        return replace(facts, sandbox=replace(facts.sandbox, model_requests=requests))

    return change


def answered_twice() -> Callable[[Facts], Facts]:
    """The first order was answered in each of two attempts."""
    return lambda facts: with_requests(1, good=2)(with_order(1, attempts=2)(facts))


def notice_mail(**changes: str) -> Mail:
    return mail(
        REGENERATED, "divergence", "About your Oracle verdict: your emailed GREEN stands", **changes
    )


def notified(
    *accepted: Mail, state: str = "sent", contradictions: int = 1
) -> Callable[[Facts], Facts]:
    """The second order was contradicted, and its customer has a notice in the outbox."""
    emails = [Email("verdict", "sent", "<verdict.2>"), Email("divergence", state, "<divergence.2>")]
    change = with_order(2, contradictions=contradictions, emails=emails)
    return lambda facts: with_mail(*accepted)(change(facts))


def with_clients(**changes: object) -> Callable[[Facts], Facts]:
    return lambda facts: replace(facts, clients=replace(facts.clients, **changes))


def test_all_invariants_hold_on_a_sound_site():
    judged = judge(sound())
    assert [one.name for one in judged] == list(INVARIANTS)
    assert [one.violations for one in judged if one.violations] == []
    assert all(one.checked for one in judged)


KNOWN = "Every payment has an order"
PENDING = "No work is left pending"
OUTCOME = "Every paid order has exactly the expected outcome"
EMAILED = "A verdict is emailed under one Message-ID"
HELD_BACK = "A held-back order is reported once and has one open case"
REFUND = "A refund is recorded and emailed once"
UNPAID = "Unpaid orders are not processed"
CALLS = "Model calls stay within their limits"
LEAKED = "Rejected text is only in quarantine"
LOG = "The log is complete and its chain valid"
CACHE = "The cache matches the stored verdicts"
COMPARED = "Every regeneration is compared, every contradiction notified"
ERRORS = "No server errors but 503"
SERVICE_LOG = "The service log has no session ids or addresses"

VIOLATIONS = [
    (KNOWN, with_site(orders=sound().site.orders[1:])),
    (PENDING, with_site(pending={"orders": 1})),
    (PENDING, with_site(swept=False)),
    (OUTCOME, with_order(3, status="failed", open_cases=["failed"])),  # not rejected
    (OUTCOME, with_order(1, originals=2)),
    (OUTCOME, with_order(3, originals=1)),
    (EMAILED, with_mail(verdict_mail(BUYER, message_id="<another>"))),
    (EMAILED, with_mail(verdict_mail(BUYER, digest="another text"))),
    (EMAILED, without_mail("<verdict.1>")),
    (EMAILED, with_mail(verdict_mail(REJECTED))),
    (EMAILED, with_order(1, emails=[Email("verdict", "pending", "<verdict.1>")])),
    (HELD_BACK, without_mail("<held_back.3>")),
    (HELD_BACK, with_mail(held_back_mail(REJECTED, message_id="<again>"))),
    (HELD_BACK, with_mail(held_back_mail(BUYER))),
    (HELD_BACK, with_order(3, open_cases=[])),
    (HELD_BACK, with_order(4, open_cases=["failed", "failed"])),
    (HELD_BACK, without_mail("<staff.4>")),
    (HELD_BACK, with_mail(staff_mail(REJECTED, message_id="<again>"))),
    (HELD_BACK, with_mail(staff_mail(BUYER, message_id="<not in the outbox>"))),
    (REFUND, with_order(6, refunded=False)),
    (REFUND, with_order(1, refunded=True)),
    (REFUND, without_mail("<refund.6>")),
    (REFUND, with_mail(refund_mail(REFUNDED, message_id="<again>"))),
    (REFUND, with_mail(refund_mail(BUYER))),
    (EMAILED, with_mail(verdict_mail(REFUNDED))),  # after the refund
    (HELD_BACK, with_mail(held_back_mail(REFUNDED))),
    (UNPAID, with_requests(5, good=1)),
    (UNPAID, with_mail(verdict_mail(ABANDONED))),
    (CALLS, with_requests(1, error=4)),
    (CALLS, with_requests(1, good=2)),  # in one attempt
    (CALLS, with_requests(1, broken_body=2)),  # each ends a call
    (CALLS, answered_twice()),  # an answer was discarded, but no process was killed
    (CALLS, with_order(1, attempts=9)),
    (CALLS, with_order(1, regens=1)),  # its page was not evicted
    (LEAKED, with_site(leaks=["Verdict.payload"])),
    (LEAKED, with_clients(leaks=["a response of /api/verdict"])),
    (LEAKED, with_order(3, without_evidence=1)),
    (LOG, with_site(log=LogFacts(5, 0, "oracle_log.jsonl line 3: torn", []))),
    (LOG, with_site(log=LogFacts(5, 2, "", []))),
    (LOG, with_site(log=LogFacts(5, 0, "", ["an entry has 2 lines"]))),
    (CACHE, with_site(wrong_cache=["cs_1"])),
    (CACHE, with_clients(wrong_hits=["cs_1"])),
    (CACHE, with_order(1, cached=False)),
    (CACHE, with_order(3, cached=True)),
    (CACHE, with_clients(never_final=["cs_2"])),
    (COMPARED, with_order(2, uncompared=1)),
    (COMPARED, with_mail(notice_mail())),  # without a contradiction
    (COMPARED, with_order(2, contradictions=1)),
    (COMPARED, notified(notice_mail(message_id="<another>"))),
    (COMPARED, notified()),  # marked as sent, but not accepted by the server
    (COMPARED, notified(notice_mail(), state="failed")),
    (COMPARED, notified(notice_mail(), contradictions=2)),
    (ERRORS, with_clients(responses=Counter({500: 1}))),
    (SERVICE_LOG, lambda facts: replace(facts, service_log_leaks=["cs_test_"])),
]


@pytest.mark.parametrize(("invariant", "change"), VIOLATIONS)
def test_a_violation_is_found_and_no_other_invariant_is_violated(invariant, change):
    assert violated(change(sound())) == [invariant]


def test_an_order_without_an_outcome_is_found():
    assert {OUTCOME, EMAILED} <= set(violated(with_order(1, status="generating")(sound())))


def test_an_order_whose_refund_is_reported_first_must_not_be_delivered():
    judged = with_order(6, status="delivered", originals=1, cached=True, attempts=1)(sound())
    assert violated(with_mail(verdict_mail(REFUNDED))(judged)) == [OUTCOME]


def test_a_refund_after_the_payment_may_come_before_the_verdict_or_after_it():
    facts = sound()
    refund = {True: "after_payment", False: ""}
    customers = [replace(one, refund=refund[bool(one.refund)]) for one in facts.customers]
    facts = replace(facts, customers=customers)
    assert violated(facts) == []
    late = with_order(6, status="delivered", originals=1, cached=True)(facts)
    assert violated(with_mail(verdict_mail(REFUNDED))(late)) == []
    assert violated(with_order(6, status="failed", open_cases=["failed"])(facts)) == [
        OUTCOME,
        HELD_BACK,
    ]


def test_every_invariant_has_a_violation_here():
    assert {invariant for invariant, _ in VIOLATIONS} == set(INVARIANTS)


def test_an_answer_lost_with_its_worker_is_allowed():
    assert violated(replace(answered_twice()(sound()), answers_at_risk=1)) == []


def test_two_answers_in_one_attempt_are_found_however_many_workers_were_killed():
    assert violated(replace(with_requests(1, good=2)(sound()), answers_at_risk=100)) == [CALLS]


def test_an_answer_after_the_deadline_is_allowed():
    late = with_order(1, attempts=2, timed_out=1)(answered_twice()(sound()))
    assert violated(late) == []
    slow = with_requests(1, good=2, slow=1)(with_order(1, attempts=3, timed_out=1)(sound()))
    assert violated(slow) == [CALLS]  # the slow request was the one that timed out


def test_a_call_to_a_retired_model_does_not_use_an_attempt():
    facts = with_requests(1, good=1, not_found=2)(with_order(1, retired_calls=2)(sound()))
    assert violated(facts) == []


def test_discarded_and_allowed_answers_are_reported():
    [note] = [
        one.note for one in judge(replace(answered_twice()(sound()), answers_at_risk=7)) if one.note
    ]
    assert note == (
        "1 model answers were discarded; allowed are 7 that may have been lost with a process "
        "and 0 that came after the deadline"
    )


def test_a_contradiction_is_notified_once_or_the_notice_is_uncertain():
    assert violated(notified(notice_mail())(sound())) == []
    assert violated(notified(state="uncertain")(sound())) == []
    assert violated(notified(notice_mail(), state="uncertain")(sound())) == []


def test_requests_refused_for_the_quota_are_not_calls():
    assert violated(with_requests(1, good=1, rate_limited=20)(sound())) == []


def test_an_evicted_page_need_not_be_cached():
    assert violated(with_order(2, cached=False)(sound())) == []


def test_the_page_lists_every_invariant():
    page = (Path(__file__).parents[3] / "docs/DRILL.md").read_text()
    assert [name for name in INVARIANTS if f"| {name} |" not in page] == []
