from collections import Counter

from drill.load.plan import EVENTS, LATE, MAIL, MODEL, REFUSED, REJECTED, VERDICT, customers
from sandbox.faults import KNOWN


def test_the_seed_repeats_the_plan():
    assert customers(7, 200) == customers(7, 200)
    assert customers(7, 200) != customers(8, 200)


def test_a_smaller_drill_has_the_same_first_customers():
    assert customers(7, 200)[:50] == customers(7, 50)


def test_a_drill_of_full_size_draws_everything_there_is():
    drawn = customers(1, 1000)
    assert {one.answer for one in drawn} == {VERDICT, REFUSED, *REJECTED}
    assert {trouble for one in drawn for trouble in one.model} == {*MODEL, LATE}
    assert {trouble for one in drawn for trouble in one.mail} == set(MAIL)
    assert {one.event.fault for one in drawn if one.event} == set(EVENTS)
    assert Counter(one.outcome for one in drawn).keys() == {
        "delivered", "rejected", "failed", "refunded", "nothing"
    }  # fmt: skip
    assert {one.pays for one in drawn} == {"card", "delayed", "bank refuses", "leaves"}


def test_every_fault_of_model_and_webhook_that_spoils_something_is_drawn():
    good = {"verdict", "variance", "not_found"}  # a label, a return and the retirement
    assert {one.fault for one in (*MODEL, LATE)} | {*REJECTED, REFUSED} == set(
        KNOWN["gemini"]
    ) - good
    assert set(EVENTS) == set(KNOWN["webhook"])


def test_who_is_to_be_rejected_gets_no_good_answer_first():
    assert not [one for one in customers(3, 2000) if one.answer != VERDICT and LATE in one.model]


def test_only_who_has_a_verdict_returns_to_it():
    assert {one.answer for one in customers(3, 2000) if one.returns} == {VERDICT}


def test_refunds_are_drawn_for_who_has_paid_and_does_not_return():
    drawn = [one for one in customers(3, 2000) if one.refund]
    assert {one.refund for one in drawn} == {"soon", "first"}
    assert not [one for one in drawn if one.returns or one.pays in ("leaves", "bank refuses")]


def test_the_word_of_a_payment_can_be_held_back_for_its_refund():
    first = [one for one in customers(3, 2000) if one.refund == "first"]
    assert {(one.pays, one.event, one.outcome) for one in first} == {("card", None, "refunded")}


def test_a_customer_is_found_by_mark_email_and_canary():
    one = customers(3, 42)[-1]
    assert one.mark in one.query
    assert (one.email, one.canary) == ("customer00042@drill.example", "canary-3-00042")
