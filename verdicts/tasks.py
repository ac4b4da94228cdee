"""What the workers run: an id in, one service call, one sentence out."""

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
    """The service log has told why, and of which session."""


def fulfil_order(order_id: int) -> str:
    with _job(queue.FULFIL, Order.objects.filter(pk=order_id).values_list("session_id")):
        verdict = fulfilling.fulfil(order_id, model=settings.ORACLE_MODEL, ask=clients.ask_model)
        return f"verdict {verdict.pk}" if verdict else "no verdict"


def deliver(delivery_id: int) -> str:
    theirs = Delivery.objects.filter(pk=delivery_id).values_list("order__session_id")
    with _job(queue.DELIVER, theirs):
        delivery = delivering.deliver(delivery_id, send=clients.send_message)
        return f"sent {delivery.pk}" if delivery else "not sent"


def compare(verdict_id: int) -> str:
    theirs = Verdict.objects.filter(pk=verdict_id).values_list("order__session_id")
    with _job(queue.COMPARE, theirs):
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
    """What is logged in here is about that session, and so is a failure."""
    with log_session(""):
        try:
            if sessions is not None:
                set_log_session(next((session for (session,) in sessions), ""))
            yield
        except Exception as error:
            logger.exception("%s failed", name)
            # The queue keeps what we raise, and tells it without the session: no more than this.
            raise JobFailed(type(error).__name__) from None
        except SystemExit:  # the queue's time-out, which ends this worker
            logger.error("%s took too long", name)  # noqa: TRY400 - where it was says nothing
            raise
