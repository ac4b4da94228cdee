"""What a drill does, drawn from its seed: who orders what, and what befalls whom and when.

Pure: the same seed gives the same plan. How the faults fall among the processes is
the machine's business: a plan repeats what is injected, not every interleaving.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

Pays = Literal["card", "delayed", "bank refuses", "leaves"]
# In the midst of it all; or before anybody has heard of the payment.
Refund = Literal["", "soon", "first"]
Outcome = Literal["delivered", "rejected", "failed", "refunded", "nothing"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of the sandbox's, as it is ordered there."""

    fault: str
    times: int = 1
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Customer:
    number: int
    seed: int
    tier: str
    pays: Pays
    event: Trouble | None  # what becomes of Stripe's word that it was paid
    rescue: Literal["reads", "resent"]  # how we hear of the payment, where that word is lost
    model: tuple[Trouble, ...]  # one after the other, before the model answers
    answer: str  # a verdict, or what it answers instead
    mail: tuple[Trouble, ...]
    returns: str  # what the model answers once the page is lost; empty: it is not
    refund: Refund = ""

    @property
    def mark(self) -> str:
        """Found in whatever is about this order, and in nothing else."""
        return f"[order {self.number:05}]"

    @property
    def canary(self) -> str:
        """In every text that the gate rejects of this order."""
        return f"canary-{self.seed}-{self.number:05}"

    @property
    def email(self) -> str:
        return f"customer{self.number:05}@drill.example"

    @property
    def query(self) -> str:
        return f"{self.mark} {IDEAS[self.number % len(IDEAS)]}"

    @property
    def event_is_lost(self) -> bool:
        return self.event is not None and self.event.fault in LOST

    @property
    def outcome(self) -> Outcome:
        """What this order has to come to, whatever is injected into the site.

        Whose refund comes soon may also be refunded before there is an outcome.
        """
        if self.pays in ("bank refuses", "leaves"):
            return "nothing"
        if self.refund == "first":
            return "refunded"
        if self.answer == VERDICT:
            return "delivered"
        return "failed" if self.answer == REFUSED else "rejected"


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
# What the gate rejects: those with a text carry the canary, those without have none.
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
LOST: Final = ("drop", "bad_signature", "stale_signature")
EVENTS: Final = ("duplicate", "reorder", "delay", *LOST)
# The client tries these three times by itself; less often, and nobody notices.
_THRICE: Final = ("error", "bad_gateway", "unavailable", "hang_up", "hang_up_after")
# What takes longer than a generation may (ORACLE_MODEL_DEADLINE is 6 s in a drill).
_TOO_SLOW: Final = (Trouble("slow", 1, 8.0), Trouble("slow_after", 1, 8.0), Trouble("dribble"))
MODEL: Final = (
    *(Trouble(fault, times) for fault in _THRICE for times in (1, 3)),
    *_TOO_SLOW,
    Trouble("rate_limited", 2),
    Trouble("broken_body"),
    Trouble("bad_key"),
)
# An answer all the same, so only for those who are to get a verdict.
LATE: Final = Trouble("slow", 1, 1.0)
MAIL: Final = (
    *(Trouble(fault) for fault in ("error", "bad_gateway", "unavailable", "unauthorized")),
    *(Trouble(fault) for fault in ("hang_up", "hang_up_after", "broken_body")),
    Trouble("rate_limited", 1, 0.5),
    Trouble("slow", 1, 1.0),
    Trouble("slow_after", 1, 1.0),
)
# What the model says when a lost page is made again.
AGAIN: Final = ("same", "same", "variance", "variance", "malformed", "unavailable", "slow")


def customers(seed: int, orders: int) -> list[Customer]:
    return [_customer(Random(f"{seed} {number}"), seed, number) for number in range(1, orders + 1)]  # noqa: S311 - repeatable on purpose


def _customer(draw: Random, seed: int, number: int) -> Customer:
    pays: Pays = draw.choices(
        ("card", "delayed", "bank refuses", "leaves"), weights=(82, 10, 4, 4)
    )[0]
    event = draw.choices((None, *EVENTS), weights=(62, 10, 8, 8, 6, 3, 3))[0]
    answer = draw.choices(
        (VERDICT, *REJECTED, REFUSED), weights=(84, *([13 / len(REJECTED)] * len(REJECTED)), 3)
    )[0]
    returns = draw.choice(AGAIN) if answer == VERDICT and draw.random() < 0.25 else ""
    customer = Customer(
        number=number,
        seed=seed,
        tier=draw.choice(TIERS),
        pays=pays,
        event=Trouble(event, seconds=3.0 if event in ("delay", "reorder") else None)
        if event
        else None,
        rescue=draw.choice(("reads", "resent")),
        model=_some(draw, (*MODEL, LATE) if answer == VERDICT else MODEL, weights=(70, 22, 8)),
        answer=answer,
        mail=_some(draw, MAIL, weights=(84, 12, 4)),
        returns=returns,
    )
    return replace(customer, refund=_refund(draw, customer))


def _refund(draw: Random, customer: Customer) -> Refund:
    """Of who has paid, and does not come back for a verdict."""
    drawn: Refund = draw.choices(("", "soon", "first"), weights=(92, 5, 3))[0]
    if customer.returns or customer.outcome == "nothing":
        return ""
    plain = customer.pays == "card" and customer.event is None
    return drawn if plain or drawn != "first" else "soon"


def _some(
    draw: Random, troubles: tuple[Trouble, ...], *, weights: tuple[int, int, int]
) -> tuple[Trouble, ...]:
    """None, one or two of them."""
    return tuple(draw.sample(troubles, draw.choices((0, 1, 2), weights=weights)[0]))
