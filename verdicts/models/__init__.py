"""The application's tables, one module for each domain."""

from verdicts.models.jobs import QueueHeartbeat
from verdicts.models.mail import Delivery
from verdicts.models.orders import UNPAID, Order, Recovered, Status
from verdicts.models.payments import LookupLimit, Reconciled, StripeEvent
from verdicts.models.review import Case
from verdicts.models.stats import ReadBatch
from verdicts.models.verdicts import CachedVerdict, Verdict

__all__ = [
    "UNPAID",
    "CachedVerdict",
    "Case",
    "Delivery",
    "LookupLimit",
    "Order",
    "QueueHeartbeat",
    "ReadBatch",
    "Reconciled",
    "Recovered",
    "Status",
    "StripeEvent",
    "Verdict",
]
