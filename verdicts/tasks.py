"""What the job workers run: an id in, one service call, a result text out.

The queue and schedule tables hold these dotted names, so the module stays where it is.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from audit.log_context import log_session, set_log_session
from verdicts import clients
from verdicts.generation import fulfil as fulfilling
from verdicts.jobs import queue
from verdicts.mail import outbox as delivering
from verdicts.models import Delivery, Order, Verdict
from verdicts.reconciliation import reconcile_hourly as reconciling
from verdicts.reconciliation import sweep as sweeping
from verdicts.results import compare as comparing

logger = logging.getLogger(__name__)


class JobFailed(Exception):
    """The service log has the reason and the session."""


def fulfil_order(order_id: int) -> str:
    with _job(queue.FULFIL, Order.objects.filter(pk=order_id).values_list("session_id")):
        verdict = fulfilling.fulfil(order_id, model=settings.ORACLE_MODEL, ask=clients.ask_model)
        return f"verdict {verdict.pk}" if verdict else "no verdict"


def deliver(delivery_id: int) -> str:
    session = Delivery.objects.filter(pk=delivery_id).values_list("order__session_id")
    with _job(queue.DELIVER, session):
        delivery = delivering.deliver(delivery_id, send=clients.send_message)
        return f"sent {delivery.pk}" if delivery else "not sent"


def compare(verdict_id: int) -> str:
    session = Verdict.objects.filter(pk=verdict_id).values_list("order__session_id")
    with _job(queue.COMPARE, session):
        event = comparing.compare(verdict_id)
        return str(event) if event else "not compared"


def sweep() -> str:
    with _job(queue.SWEEP):
        return str(sweeping.sweep())


def reconcile() -> str:
    with _job(queue.RECONCILE):
        return reconciling.reconcile_hourly(account=clients.stripe_account())


@contextmanager
def _job(name: str, sessions: "QuerySet[Any, tuple[str | None]] | None" = None) -> Iterator[None]:
    """Log lines of the block, failures included, carry the session."""
    with log_session(""):
        try:
            if sessions is not None:
                set_log_session(next((session for (session,) in sessions), ""))
            yield
        except Exception as error:
            logger.exception("%s failed", name)
            # The queue stores the error and logs it without the session: only its type.
            raise JobFailed(type(error).__name__) from None
        except SystemExit:  # the queue's time-out, which ends this worker
            logger.error("%s took too long", name)  # noqa: TRY400 - where it was says nothing
            raise
