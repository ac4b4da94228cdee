"""Rows of orders, Stripe events, emails, cases and staff actions."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from audit.models import Action
from benchmarks.dataset.history import (
    CASE_CLOSED,
    EMAILED,
    GATED,
    ORDERED,
    OrderHistory,
    email,
    has_open_case,
    is_delivered,
    is_failed,
    is_regenerated,
    is_rejected,
    level,
    payment_intent,
    random_hex,
    session_id,
)
from benchmarks.dataset.row_set import Row, RowSet
from verdicts.models import Case, Delivery, Order, StripeEvent

_OUTCOMES: Final[tuple[tuple[Callable[[int], bool], str, str], ...]] = (
    (is_delivered, "delivered", ""),
    (is_rejected, "rejected", "field_missing"),
    (is_failed, "failed", "the model refused the request"),
)


def orders(history: OrderHistory) -> list[RowSet]:
    def rows(numbers: Iterable[int]) -> Iterator[Row]:
        for number in numbers:
            sample = history.sample(number)
            ids = (number, random_hex("token", number), session_id(number))
            submission = (sample.tier, sample.query, email(number))
            payment = (sample.cents, payment_intent(number))
            times = (history.at(number), history.at(number, ORDERED))
            yield *ids, *submission, *payment, *times

    varying = "id token session_id tier query email price_cents payment_intent paid_at created_at"
    fixed = {"currency": "cad", "attempts": 1}

    def with_outcome(matches: Callable[[int], bool], status: str, reason: str) -> RowSet:
        outcome = {"status": status, "reason": reason}
        return RowSet(
            Order, varying, lambda numbers: rows(filter(matches, numbers)), {**fixed, **outcome}
        )

    return [with_outcome(*outcome) for outcome in _OUTCOMES]


def events(history: OrderHistory) -> list[RowSet]:
    session = json.dumps(
        {
            "id": "%s",
            "object": "checkout.session",
            "amount_subtotal": 500,
            "amount_total": 500,
            "client_reference_id": None,
            "created": 1_700_000_000,
            "currency": "cad",
            "custom_fields": [],
            "customer_details": {"email": "%s"},
            "customer_email": None,
            "metadata": {"tier": "full", "query_0": history.samples[0].query},
            "payment_intent": "%s",
            "payment_status": "paid",
            "status": "complete",
        }
    )

    def rows(numbers: range) -> Iterator[Row]:
        for number in numbers:
            event_id, at = f"evt_{random_hex('event', number)[:24]}", history.at(number)
            obj = session % (session_id(number), email(number), payment_intent(number))
            yield number, event_id, obj, at, at

    varying = "id event_id object received_at processed_at"
    fixed = {"type": "checkout.session.completed", "outcome": "paid"}
    return [RowSet(StripeEvent, varying, rows, fixed)]


def deliveries(history: OrderHistory) -> list[RowSet]:
    def row(number: int, row_id: int) -> Row:
        label = history.sample(number).original.label if is_delivered(number) else ""
        name, digest = random_hex("mail", row_id), random_hex("body", row_id) * 2
        at = history.at(number, EMAILED)
        return row_id, number, name, f"<{name}@oracle.example>", label, digest, at, at

    def notices(numbers: range) -> Iterator[Row]:
        for number in filter(is_regenerated, numbers):
            if level(number) == "significant":
                yield *row(number, number + history.regen_offset), number + history.regen_offset

    def held_back(numbers: range) -> Iterator[int]:
        return (number for number in numbers if not is_delivered(number))

    varying = "id order_id name message_id emailed_label body_sha256 sent_at created_at"
    sent = {"state": "sent", "attempts": 1}
    return [
        RowSet(
            Delivery,
            varying,
            lambda numbers: (row(n, n) for n in filter(is_delivered, numbers)),
            {**sent, "kind": "verdict"},
        ),
        RowSet(
            Delivery,
            varying,
            lambda numbers: (row(n, n) for n in held_back(numbers)),
            {**sent, "kind": "held_back"},
        ),
        RowSet(
            Delivery,
            varying,
            lambda numbers: (row(n, n + history.regen_offset) for n in held_back(numbers)),
            {**sent, "kind": "staff"},
        ),
        RowSet(Delivery, f"{varying} regen_id", notices, {**sent, "kind": "divergence"}),
    ]


def cases(history: OrderHistory, staff_id: int) -> list[RowSet]:
    """`staff_id` is the user who closed the closed cases."""

    def row_set(matches: Callable[[int], bool], *, is_open: bool) -> RowSet:
        has_crosscheck = matches is is_rejected

        def rows(numbers: range) -> Iterator[Row]:
            for number in filter(matches, numbers):
                if has_open_case(number) == is_open:
                    crosscheck = (number,) if has_crosscheck else ()
                    closed = () if is_open else (history.at(number, CASE_CLOSED),)
                    yield number, number, *crosscheck, history.at(number, GATED), *closed

        varying = f"id order_id {'crosscheck_id' if has_crosscheck else ''} opened_at"
        decision = {"outcome": "correct", "note": "seen", "closed_by_id": staff_id}
        return RowSet(
            Case,
            varying if is_open else f"{varying} closed_at",
            rows,
            {
                "kind": "rejected" if has_crosscheck else "failed",
                **({} if is_open else decision),
            },
        )

    return [
        row_set(matches, is_open=is_open)
        for matches in (is_rejected, is_failed)
        for is_open in (True, False)
    ]


def actions(history: OrderHistory) -> list[RowSet]:
    def rows(numbers: range) -> Iterator[Row]:
        for number in numbers:
            if not is_delivered(number) and not has_open_case(number):
                yield number, session_id(number), history.at(number, CASE_CLOSED)

    fixed = {"action": "case correct", "who": "ada", "reason": "seen"}
    return [RowSet(Action, "id session_id created_at", rows, fixed)]
