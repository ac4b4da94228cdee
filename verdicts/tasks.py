"""The jobs of the queue: each takes an id, makes one service call and returns a result text.

Queue and schedule rows store these dotted names, so the module must not move.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from audit.log_context import log_session, set_log_session
from verdicts import clients
from verdicts.generation import fulfil as fulfil_service
from verdicts.jobs import queue
from verdicts.mail import outbox
from verdicts.models import Delivery, Order, Verdict
from verdicts.reconciliation import sweep as sweep_service
from verdicts.reconciliation.reconcile_hourly import reconcile_hourly
from verdicts.results import compare as compare_service

logger = logging.getLogger(__name__)


class JobFailed(Exception):
    """The service log has the error and the session."""


def fulfil_order(order_id: int) -> str:
    with _job(queue.FULFIL, Order.objects.filter(pk=order_id).values_list("session_id")):
        verdict = fulfil_service.fulfil(
            order_id, model=settings.ORACLE_MODEL, ask=clients.ask_model
        )
        return f"verdict {verdict.pk}" if verdict else "no verdict"


def deliver(delivery_id: int) -> str:
    session = Delivery.objects.filter(pk=delivery_id).values_list("order__session_id")
    with _job(queue.DELIVER, session):
        delivery = outbox.deliver(delivery_id, send=clients.send_message)
        return f"sent {delivery.pk}" if delivery else "not sent"


def compare(verdict_id: int) -> str:
    session = Verdict.objects.filter(pk=verdict_id).values_list("order__session_id")
    with _job(queue.COMPARE, session):
        event = compare_service.compare(verdict_id)
        return str(event) if event else "not compared"


def sweep() -> str:
    with _job(queue.SWEEP):
        return str(sweep_service.sweep())


def reconcile() -> str:
    with _job(queue.RECONCILE):
        return reconcile_hourly(account=clients.stripe_account())


@contextmanager
def _job(name: str, sessions: "QuerySet[Any, tuple[str | None]] | None" = None) -> Iterator[None]:
    """Every log line of the block carries the session, including the one of its failure."""
    with log_session(""):
        try:
            if sessions is not None:
                set_log_session(next((session for (session,) in sessions), ""))
            yield
        except Exception as error:
            logger.exception("%s failed", name)
            # The queue stores and logs the error, without the session: so only its type.
            raise JobFailed(type(error).__name__) from None
        except SystemExit:  # the queue's job time-out, which ends this worker
            logger.error("%s exceeded its time limit", name)  # noqa: TRY400 - no traceback needed
            raise
