"""What is there after a drill, as plain facts: of the site, of the outside, and of the customers.

Pure: gathered by others, judged in `drill.invariants.invariants`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from drill.load.plan import Customer

_MARK: Final = re.compile(r"\[order (\d{5})\]")


def number_in(text: str) -> int:
    """The number of the customer that a text is about; 0: of none."""
    found = _MARK.search(text)
    return int(found.group(1)) if found else 0


@dataclass(frozen=True, slots=True)
class Email:
    """One that the site owes: what it says became of it."""

    kind: str
    state: str
    message_id: str


@dataclass(frozen=True, slots=True)
class OrderFacts:
    pk: int
    number: int
    session: str
    status: str  # the order's; `refunded` where it is ended by that
    refunded: bool
    attempts: int
    regens: int
    originals: int
    regenerations: int
    uncompared: int  # regenerations without a comparison on record
    contradictions: int  # that the customer is to be told of, each once
    rejections: int  # decisions of the gate on the original that were no
    without_evidence: int  # of those, where the output had a text
    retired_calls: int  # of the original's: their attempts were given back
    timed_out: int  # calls that had no answer in their time
    cached: bool
    cases: list[str]  # open ones, by kind
    emails: list[Email]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "OrderFacts":
        emails = [Email(*one) for one in row["emails"]]
        return cls(**{**row, "emails": emails})


@dataclass(frozen=True, slots=True)
class LogFacts:
    lines: int
    pending: int
    fault: str  # the first bad line, as `audit_verify` names it
    unmatched: list[str]  # what has not one line
    left_waiting: int = 0  # lines that a failed write left waiting, counted at each


@dataclass(frozen=True, slots=True)
class SiteFacts:
    orders: list[OrderFacts]
    log: LogFacts
    etags: dict[str, str]  # of the cached answers, by session
    wrong_cache: list[str]  # sessions whose ready-made answer is not what is stored
    leaks: list[str]  # where a canary was found
    waiting: dict[str, int]
    swept: bool  # by the site's own schedule
    told_retired: int

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "SiteFacts":
        orders = [OrderFacts.read(row) for row in raw["orders"]]
        return cls(**{**raw, "orders": orders, "log": LogFacts(**raw["log"])})


@dataclass(frozen=True, slots=True)
class Mail:
    """A message that the mail server took."""

    to: str
    subject: str
    message_id: str
    digest: str  # of its text
    about: int = 0  # the order that staff are told of


@dataclass(frozen=True, slots=True)
class OutsideFacts:
    paid: dict[str, int]  # sessions that are paid, and whose they are
    refunded: set[str]  # those of them that are paid back
    mail: list[Mail]
    asked: dict[int, Counter[str]]  # requests to the model, by customer and fault


@dataclass(slots=True)
class CustomerFacts:
    """What the customers met. Changed while the drill goes on."""

    answers: Counter[int] = field(default_factory=Counter)  # by status; 0: no answer at all
    evicted: Counter[str] = field(default_factory=Counter)  # sessions whose page we removed
    leaks: list[str] = field(default_factory=list)
    other_bodies: list[str] = field(default_factory=list)  # hits that were not what is cached
    stuck: list[str] = field(default_factory=list)  # lost pages that never come to an end
    slowest: tuple[float, str] = (0.0, "")  # seconds, and of what


@dataclass(frozen=True, slots=True)
class Facts:
    customers: list[Customer]
    site: SiteFacts
    outside: OutsideFacts
    met: CustomerFacts
    said: list[str]  # what the service log told that it must not
    at_risk: int  # answers of the model that a process can have taken with it

    @property
    def paid(self) -> dict[int, str]:
        """The session that each customer has paid for."""
        return {number: session for session, number in self.outside.paid.items()}

    def order(self, session: str) -> OrderFacts | None:
        return next((one for one in self.site.orders if one.session == session), None)

    def mail_to(self, customer: Customer, subject: str) -> list[Mail]:
        return [
            one for one in self.outside.mail if one.to == customer.email and subject in one.subject
        ]

    def staff_mail_about(self, order: OrderFacts) -> set[str]:
        """The Message-IDs under which staff were told of it."""
        return {one.message_id for one in self.outside.mail if one.about == order.pk}
