"""The state after a drill as plain facts: of the site, the sandbox and the customers' responses.

Pure: collected by other modules, judged by `drill.invariants.invariants`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from drill.load.workload import Customer

_MARKER: Final = re.compile(r"\[order (\d{5})\]")


def number_in(text: str) -> int:
    """The number of the customer whose marker is in the text; 0 without one."""
    found = _MARKER.search(text)
    return int(found.group(1)) if found else 0


@dataclass(frozen=True, slots=True)
class Email:
    """An email in the site's outbox, with its state there."""

    kind: str
    state: str
    message_id: str


@dataclass(frozen=True, slots=True)
class OrderFacts:
    pk: int
    number: int  # the customer's
    session: str
    status: str  # the order's; `refunded` where the refund ended it
    refunded: bool
    attempts: int
    regens: int  # regenerations that were started
    originals: int
    regenerations: int  # that were stored
    uncompared: int  # of those, without a recorded comparison
    contradictions: int  # of which the customer must be notified, each once
    rejections: int  # by the gate
    without_evidence: int  # of those, where the output had a text
    retired_calls: int  # original calls to a retired model, whose attempts were returned
    timed_out: int  # calls that reached their deadline without an answer
    cached: bool
    open_cases: list[str]  # by kind
    emails: list[Email]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "OrderFacts":
        emails = [Email(*one) for one in row["emails"]]
        return cls(**{**row, "emails": emails})


@dataclass(frozen=True, slots=True)
class LogFacts:
    lines: int
    pending: int
    defect: str  # the first bad line, as `audit_verify` reports it
    unmatched: list[str]  # rows and entries that do not have exactly one line
    failed_writes: int = 0  # lines that a failed write left pending, once for each failure


@dataclass(frozen=True, slots=True)
class SiteFacts:
    orders: list[OrderFacts]
    log: LogFacts
    etags: dict[str, str]  # of cached verdicts, by session
    wrong_cache: list[str]  # sessions whose cached body differs from the stored verdict
    leaks: list[str]  # where a canary was found
    pending: dict[str, int]
    swept: bool  # by the site's own schedule

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "SiteFacts":
        orders = [OrderFacts.read(row) for row in raw["orders"]]
        return cls(**{**raw, "orders": orders, "log": LogFacts(**raw["log"])})


@dataclass(frozen=True, slots=True)
class Mail:
    """A message that the mail server accepted."""

    to: str
    subject: str
    message_id: str
    digest: str  # of its text
    order: int = 0  # the primary key of the order that a staff email links to


@dataclass(frozen=True, slots=True)
class SandboxFacts:
    paid: dict[str, int]  # paid sessions, and the number of the customer
    refunded: set[str]  # those of them that were refunded
    mail: list[Mail]
    model_requests: dict[int, Counter[str]]  # by customer and fault


@dataclass(slots=True)
class ClientFacts:
    """What the simulated customers observed. Updated while the drill runs."""

    responses: Counter[int] = field(default_factory=Counter)  # by status; 0: no response
    evicted: Counter[str] = field(default_factory=Counter)  # evictions by session
    leaks: list[str] = field(default_factory=list)
    wrong_hits: list[str] = field(default_factory=list)  # sessions read differently than cached
    never_final: list[str] = field(default_factory=list)  # evicted pages that stay unresolved
    slowest: tuple[float, str] = (0.0, "")  # seconds, and the request


@dataclass(frozen=True, slots=True)
class Facts:
    customers: list[Customer]
    site: SiteFacts
    sandbox: SandboxFacts
    clients: ClientFacts
    service_log_leaks: list[str]
    answers_at_risk: int  # model answers that may have been lost with a process

    @property
    def paid(self) -> dict[int, str]:
        """The session that each customer has paid for."""
        return {number: session for session, number in self.sandbox.paid.items()}

    def mail_to(self, customer: Customer, subject: str) -> list[Mail]:
        return [
            one for one in self.sandbox.mail if one.to == customer.email and subject in one.subject
        ]

    def staff_mail_about(self, order: OrderFacts) -> set[str]:
        """The Message-IDs of all staff emails about the order."""
        return {one.message_id for one in self.sandbox.mail if one.order == order.pk}
