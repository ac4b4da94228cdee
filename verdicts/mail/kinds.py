"""Every email kind: subject, audience, template and retry policy, in one table.

A kind without a row, a subject or a template fails a test, not a worker.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.db.models import Q

from verdicts.models import Delivery

Kind = Delivery.Kind


class Audience(Enum):
    CUSTOMER = "customer"
    STAFF = "staff"  # about one order
    OPERATORS = "operators"  # about the site: sent also where the order it refers to was erased


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long an email is tried."""

    delays: tuple[int, ...]  # seconds after each attempt but the last
    resend_if_unknown: bool  # where the server may or may not have taken the message (R13)

    @property
    def max_attempts(self) -> int:
        return len(self.delays) + 1


# From a hiccup to an outage of an afternoon.
BACKOFF_5_HOURS: Final = RetryPolicy((1, 5, 30, 120, 600, 3_600, 14_400), resend_if_unknown=True)
# Retry delay of the divergence notice, in seconds (R13).
NOTICE_RETRY_DELAY: Final = 60
ONE_RETRY: Final = RetryPolicy((NOTICE_RETRY_DELAY,), resend_if_unknown=False)


@dataclass(frozen=True, slots=True)
class EmailKind:
    subject: str  # {label}: the emailed verdict
    audience: Audience
    template: str  # templates/email/{template}.txt and .html
    retry: RetryPolicy = BACKOFF_5_HOURS


# Subjects to customers are customer-facing text.
KINDS: Final[dict[Kind, EmailKind]] = {
    Kind.VERDICT: EmailKind("Your Oracle verdict: {label}", Audience.CUSTOMER, "verdict"),
    Kind.HELD_BACK: EmailKind("Your Oracle verdict was held back", Audience.CUSTOMER, "held_back"),
    Kind.REFUND: EmailKind("Your Oracle payment was refunded", Audience.CUSTOMER, "refund"),
    Kind.DIVERGENCE: EmailKind(
        "About your Oracle verdict: your emailed {label} stands",
        Audience.CUSTOMER,
        "divergence",
        ONE_RETRY,
    ),
    Kind.STAFF: EmailKind("Oracle: an order needs review", Audience.STAFF, "staff"),
    Kind.RETIRED: EmailKind("Oracle: the model no longer answers", Audience.OPERATORS, "retired"),
    Kind.ESCALATION: EmailKind(
        "Oracle: regenerations diverge too often", Audience.OPERATORS, "escalation"
    ),
    Kind.UNRECONCILED: EmailKind(
        "Oracle: Stripe's records and ours disagree", Audience.OPERATORS, "unreconciled"
    ),
}

TO_CUSTOMERS: Final = tuple(
    kind for kind, row in KINDS.items() if row.audience is Audience.CUSTOMER
)
OPERATIONAL_KINDS: Final = tuple(
    kind for kind, row in KINDS.items() if row.audience is Audience.OPERATORS
)
# Emails of smoke tests are excluded from all statistics; what concerns the site is counted.
COUNTED: Final = Q(order__smoke=False) | Q(kind__in=OPERATIONAL_KINDS)
