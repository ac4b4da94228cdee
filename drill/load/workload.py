"""The workload, drawn from the seed: who orders what, and which faults each order meets.

Pure: the same seed gives the same customers. Timing between processes is not repeated: a
seed repeats what is injected, not every interleaving.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

Payment = Literal["card", "delayed", "declined", "abandoned"]
# Refunded while the order is processed, or before the payment event is delivered.
Refund = Literal["", "after_payment", "before_payment_event"]
Outcome = Literal["delivered", "rejected", "failed", "refunded", "nothing"]


@dataclass(frozen=True, slots=True)
class SandboxFault:
    """A fault rule for the sandbox."""

    fault: str
    times: int = 1
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Customer:
    number: int
    seed: int
    tier: str
    payment: Payment
    webhook_fault: SandboxFault | None  # on the payment event
    recovery: Literal["read", "redelivery"]  # of a payment whose event is lost
    model_faults: tuple[SandboxFault, ...]  # in this order, before the model answers
    model_answer: str  # VERDICT, or the fault that the model answers with for good
    mail_faults: tuple[SandboxFault, ...]
    regeneration: str  # what the model does once the page is evicted; empty: no eviction
    refund: Refund = ""

    @property
    def marker(self) -> str:
        """Occurs in everything about this order and in nothing else."""
        return f"[order {self.number:05}]"

    @property
    def canary(self) -> str:
        """Occurs in every rejected text of this order."""
        return f"canary-{self.seed}-{self.number:05}"

    @property
    def email(self) -> str:
        return f"customer{self.number:05}@drill.example"

    @property
    def query(self) -> str:
        return f"{self.marker} {IDEAS[self.number % len(IDEAS)]}"

    @property
    def webhook_lost(self) -> bool:
        return self.webhook_fault is not None and self.webhook_fault.fault in LOST_WEBHOOK

    @property
    def expected_outcome(self) -> Outcome:
        """What must become of this order, whatever is injected into the site.

        An order that is refunded after its payment may also end as refunded.
        """
        if self.payment in ("declined", "abandoned"):
            return "nothing"
        if self.refund == "before_payment_event":
            return "refunded"
        if self.model_answer == VERDICT:
            return "delivered"
        return "failed" if self.model_answer == REFUSED else "rejected"


IDEAS: Final = (
    "A repair café in the empty shop beside the library, every second Saturday.",
    "Rent out tools by the hour from a container at the allotments, paid by phone.",
    "A weekly box of bread and cheese from three villages, delivered by bicycle.",
    "Teach retired engineers to tutor mathematics by video, four pupils at a time.",
    "Buy the old cinema and show films that the chain will not, with soup before.",
)
TIERS: Final = ("quick", "full", "strategy")
VERDICT: Final = "verdict"
REFUSED: Final = "bad_request"
# Answers that the gate rejects. Those that have a text contain the canary.
REJECTED: Final = (
    "malformed",
    "truncated",
    "contradictory",
    "missing_field",
    "max_tokens",
    "empty",
    "blocked",
    "safety",
    "recitation",
)
LOST_WEBHOOK: Final = ("drop", "bad_signature", "stale_signature")
WEBHOOK_FAULTS: Final = ("duplicate", "reorder", "delay", *LOST_WEBHOOK)
# The model client makes three tries by itself: only a fault that lasts for three ends its call.
_RETRIED: Final = ("error", "bad_gateway", "unavailable", "hang_up", "hang_up_after")
# Longer than the model's deadline in a drill (`drill.testbed.MODEL_DEADLINE`).
_TOO_SLOW: Final = (
    SandboxFault("slow", 1, 8.0),
    SandboxFault("slow_after", 1, 8.0),
    SandboxFault("dribble"),
)
MODEL_FAULTS: Final = (
    *(SandboxFault(fault, times) for fault in _RETRIED for times in (1, 3)),
    *_TOO_SLOW,
    SandboxFault("rate_limited", 2),
    SandboxFault("broken_body"),
    SandboxFault("bad_key"),
)
# Ends in a good answer, so only for orders that are to be delivered.
SLOW_ANSWER: Final = SandboxFault("slow", 1, 1.0)
MAIL_FAULTS: Final = (
    *(SandboxFault(fault) for fault in ("error", "bad_gateway", "unavailable", "unauthorized")),
    *(SandboxFault(fault) for fault in ("hang_up", "hang_up_after", "broken_body")),
    SandboxFault("rate_limited", 1, 0.5),
    SandboxFault("slow", 1, 1.0),
    SandboxFault("slow_after", 1, 1.0),
)
# What the model does when an evicted page is regenerated; "same" is the original's answer.
REGENERATIONS: Final = (
    *("same", "same", "variance", "variance", "malformed", "unavailable", "slow"),
)


def plan_customers(seed: int, orders: int) -> list[Customer]:
    return [_customer(Random(f"{seed} {number}"), seed, number) for number in range(1, orders + 1)]  # noqa: S311 - repeatable on purpose


def without_faults(customer: Customer) -> Customer:
    """The same customer, paying by card, with no fault, eviction or refund."""
    return replace(
        customer,
        payment="card",
        webhook_fault=None,
        model_faults=(),
        model_answer=VERDICT,
        mail_faults=(),
        regeneration="",
        refund="",
    )


def _customer(random: Random, seed: int, number: int) -> Customer:
    payment: Payment = random.choices(
        ("card", "delayed", "declined", "abandoned"), weights=(82, 10, 4, 4)
    )[0]
    webhook = random.choices((None, *WEBHOOK_FAULTS), weights=(62, 10, 8, 8, 6, 3, 3))[0]
    answer = random.choices(
        (VERDICT, *REJECTED, REFUSED), weights=(84, *([13 / len(REJECTED)] * len(REJECTED)), 3)
    )[0]
    regenerated = answer == VERDICT and random.random() < 0.25
    regeneration = random.choice(REGENERATIONS) if regenerated else ""
    customer = Customer(
        number=number,
        seed=seed,
        tier=random.choice(TIERS),
        payment=payment,
        webhook_fault=_webhook_fault(webhook),
        recovery=random.choice(("read", "redelivery")),
        model_faults=_sample(
            random,
            (*MODEL_FAULTS, SLOW_ANSWER) if answer == VERDICT else MODEL_FAULTS,
            weights=(70, 22, 8),
        ),
        model_answer=answer,
        mail_faults=_sample(random, MAIL_FAULTS, weights=(84, 12, 4)),
        regeneration=regeneration,
    )
    return replace(customer, refund=_refund(random, customer))


def _webhook_fault(fault: str | None) -> SandboxFault | None:
    seconds = 3.0 if fault in ("delay", "reorder") else None
    return SandboxFault(fault, seconds=seconds) if fault else None


def _refund(random: Random, customer: Customer) -> Refund:
    """Only for customers who pay and whose page is not evicted."""
    drawn: Refund = random.choices(
        ("", "after_payment", "before_payment_event"), weights=(92, 5, 3)
    )[0]
    if customer.regeneration or customer.expected_outcome == "nothing":
        return ""
    # The event of such a payment is sent by hand, after that of the refund.
    sent_by_hand = customer.payment == "card" and customer.webhook_fault is None
    return drawn if sent_by_hand or drawn != "before_payment_event" else "after_payment"


def _sample(
    random: Random, faults: tuple[SandboxFault, ...], *, weights: tuple[int, int, int]
) -> tuple[SandboxFault, ...]:
    """None, one or two of them."""
    return tuple(random.sample(faults, random.choices((0, 1, 2), weights=weights)[0]))
