"""What was order_rows and told: orders, Stripe's events, emails, and what staff had to look at."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from audit.models import Action
from benchmarks.dataset.history import (
    CASE_CLOSED,
    GATED,
    ORDERED,
    EMAILED,
    OrderHistory,
    email,
    is_delivered,
    is_failed,
    has_open_case,
    is_regenerated,
    is_rejected,
    level,
    payment_intent,
    random_hex,
    session_id,
)
from benchmarks.dataset.row_set import Row, RowSet
from verdicts.models import Case, Delivery, Order, StripeEvent

_ENDS: Final[tuple[tuple[Callable[[int], bool], str, str], ...]] = (
    (is_delivered, "delivered", ""),
    (is_rejected, "rejected", "field_missing"),
    (is_failed, "failed", "the model refused the request"),
)


def orders(history: OrderHistory) -> list[RowSet]:
    def rows(some: Iterable[int]) -> Iterator[Row]:
        for number in some:
            idea = history.sample(number)
            names = (number, random_hex("token", number), session_id(number))
            bought = (idea.tier, idea.query, email(number), idea.cents, payment_intent(number))
            yield *names, *bought, history.at(number), history.at(number, ORDERED)

    varying = "id token session_id tier query email price_cents payment_intent paid_at created_at"
    same = {"currency": "cad", "attempts": 1}

    def ended(which: Callable[[int], bool], status: str, reason: str) -> RowSet:
        end = {"status": status, "reason": reason}
        return RowSet(Order, varying, lambda some: rows(filter(which, some)), {**same, **end})

    return [ended(*end) for end in _ENDS]


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

    def rows(some: range) -> Iterator[Row]:
        for number in some:
            event, at = f"evt_{random_hex('event', number)[:24]}", history.at(number)
            told = session % (session_id(number), email(number), payment_intent(number))
            yield number, event, told, at, at

    varying = "id event_id object received_at processed_at"
    same = {"type": "checkout.session.completed", "outcome": "paid"}
    return [RowSet(StripeEvent, varying, rows, same)]


def deliveries(history: OrderHistory) -> list[RowSet]:
    def row(number: int, its: int) -> Row:
        label = history.sample(number).original.label if is_delivered(number) else ""
        name, digest = random_hex("mail", its), random_hex("body", its) * 2
        at = history.at(number, EMAILED)
        return its, number, name, f"<{name}@oracle.example>", label, digest, at, at

    def notices(some: range) -> Iterator[Row]:
        for number in filter(is_regenerated, some):
            if level(number) == "significant":
                yield *row(number, number + history.regen_offset), number + history.regen_offset

    def held_back(some: range) -> Iterator[int]:
        return (number for number in some if not is_delivered(number))

    varying = "id order_id name message_id emailed_label body_sha256 sent_at created_at"
    sent = {"state": "sent", "attempts": 1}
    return [
        RowSet(
            Delivery,
            varying,
            lambda some: (row(n, n) for n in filter(is_delivered, some)),
            {**sent, "kind": "verdict"},
        ),
        RowSet(
            Delivery,
            varying,
            lambda some: (row(n, n) for n in held_back(some)),
            {**sent, "kind": "held_back"},
        ),
        RowSet(
            Delivery,
            varying,
            lambda some: (row(n, n + history.regen_offset) for n in held_back(some)),
            {**sent, "kind": "staff"},
        ),
        RowSet(Delivery, f"{varying} regen_id", notices, {**sent, "kind": "divergence"}),
    ]


def cases(history: OrderHistory, staff: int) -> list[RowSet]:
    """`staff` is the id of whoever closed the closed ones."""

    def shape(which: Callable[[int], bool], *, waits: bool) -> RowSet:
        checked = which is is_rejected

        def rows(some: range) -> Iterator[Row]:
            for number in filter(which, some):
                if has_open_case(number) == waits:
                    crosscheck = (number,) if checked else ()
                    closed = () if waits else (history.at(number, CASE_CLOSED),)
                    yield number, number, *crosscheck, history.at(number, GATED), *closed

        varying = f"id order_id {'crosscheck_id' if checked else ''} opened_at"
        decided = {"outcome": "correct", "note": "seen", "closed_by_id": staff}
        return RowSet(
            Case,
            varying if waits else f"{varying} closed_at",
            rows,
            {"kind": "rejected" if checked else "failed", **({} if waits else decided)},
        )

    return [
        shape(which, waits=waits) for which in (is_rejected, is_failed) for waits in (True, False)
    ]


def actions(history: OrderHistory) -> list[RowSet]:
    def rows(some: range) -> Iterator[Row]:
        for number in some:
            if not is_delivered(number) and not has_open_case(number):
                yield number, session_id(number), history.at(number, CASE_CLOSED)

    same = {"action": "case correct", "who": "ada", "reason": "seen"}
    return [RowSet(Action, "id session_id created_at", rows, same)]
