"""What the workers run: an id in, one service call, one sentence out."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from audit.subject import about, now_about
from verdicts import outside, queue
from verdicts.models import Delivery, Order, Verdict
from verdicts.services import compare as comparing
from verdicts.services import deliver as delivering
from verdicts.services import fulfil as fulfilling
from verdicts.services import reconcile_hourly as reconciling
from verdicts.services import sweep as sweeping

logger = logging.getLogger(__name__)


class JobFailed(Exception):
    """The service log has told why, and of which session."""


def fulfil_order(order_id: int) -> str:
    with _job(queue.FULFIL, Order.objects.filter(pk=order_id).values_list("session_id")):
        verdict = fulfilling.fulfil(order_id, model=settings.ORACLE_MODEL, ask=outside.ask_model)
        return f"verdict {verdict.pk}" if verdict else "no verdict"


def deliver(delivery_id: int) -> str:
    theirs = Delivery.objects.filter(pk=delivery_id).values_list("order__session_id")
    with _job(queue.DELIVER, theirs):
        delivery = delivering.deliver(delivery_id, send=outside.send_letter)
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
        return reconciling.reconcile_hourly(account=outside.stripe_account())


@contextmanager
def _job(name: str, sessions: "QuerySet[Any, tuple[str | None]] | None" = None) -> Iterator[None]:
    """What is logged in here is about that session, and so is a failure."""
    with about(""):
        try:
            if sessions is not None:
                now_about(next((session for (session,) in sessions), ""))
            yield
        except Exception as error:
            logger.exception("%s failed", name)
            # The queue keeps what we raise, and tells it without the session: no more than this.
            raise JobFailed(type(error).__name__) from None
        except SystemExit:  # the queue's time-out, which ends this worker
            logger.error("%s took too long", name)  # noqa: TRY400 - where it was says nothing
            raise
