from collections import Counter

from drill.load.workload import (
    MAIL_FAULTS,
    MODEL_FAULTS,
    REFUSED,
    REJECTED,
    SLOW_ANSWER,
    VERDICT,
    WEBHOOK_FAULTS,
    plan_customers,
)
from sandbox.faults import KNOWN


def test_the_seed_repeats_the_workload():
    assert plan_customers(7, 200) == plan_customers(7, 200)
    assert plan_customers(7, 200) != plan_customers(8, 200)


def test_a_smaller_drill_has_the_same_first_customers():
    assert plan_customers(7, 200)[:50] == plan_customers(7, 50)


def test_a_drill_of_full_size_draws_every_possibility():
    drawn = plan_customers(1, 1000)
    assert {one.model_answer for one in drawn} == {VERDICT, REFUSED, *REJECTED}
    assert {fault for one in drawn for fault in one.model_faults} == {*MODEL_FAULTS, SLOW_ANSWER}
    assert {fault for one in drawn for fault in one.mail_faults} == set(MAIL_FAULTS)
    webhook_faults = {one.webhook_fault.fault for one in drawn if one.webhook_fault}
    assert webhook_faults == set(WEBHOOK_FAULTS)
    assert Counter(one.expected_outcome for one in drawn).keys() == {
        "delivered", "rejected", "failed", "refunded", "nothing"
    }  # fmt: skip
    assert {one.payment for one in drawn} == {"card", "delayed", "declined", "abandoned"}


def test_every_harmful_fault_of_model_and_webhook_is_drawn():
    # A label, a regeneration and the retirement of the model.
    used_elsewhere = {"verdict", "variance", "not_found"}
    drawn = {one.fault for one in (*MODEL_FAULTS, SLOW_ANSWER)} | {*REJECTED, REFUSED}
    assert drawn == set(KNOWN["gemini"]) - used_elsewhere
    assert set(WEBHOOK_FAULTS) == set(KNOWN["webhook"])


def test_an_order_to_be_rejected_gets_no_good_answer_first():
    drawn = plan_customers(3, 2000)
    assert not [
        one for one in drawn if one.model_answer != VERDICT and SLOW_ANSWER in one.model_faults
    ]


def test_only_delivered_verdicts_are_regenerated():
    regenerated = [one for one in plan_customers(3, 2000) if one.regeneration]
    assert {one.model_answer for one in regenerated} == {VERDICT}


def test_only_paid_orders_that_are_not_regenerated_are_refunded():
    refunded = [one for one in plan_customers(3, 2000) if one.refund]
    assert {one.refund for one in refunded} == {"after_payment", "before_payment_event"}
    assert not [
        one for one in refunded if one.regeneration or one.payment in ("abandoned", "declined")
    ]


def test_a_refund_reported_before_its_payment_ends_the_order_as_refunded():
    first = [one for one in plan_customers(3, 2000) if one.refund == "before_payment_event"]
    assert {(one.payment, one.webhook_fault, one.expected_outcome) for one in first} == {
        ("card", None, "refunded")
    }


def test_a_customer_is_identified_by_marker_email_and_canary():
    one = plan_customers(3, 42)[-1]
    assert one.marker in one.query
    assert (one.email, one.canary) == ("customer00042@drill.example", "canary-3-00042")
