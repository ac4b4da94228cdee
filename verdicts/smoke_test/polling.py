"""Waits for the workers' results, and explains why one is missing."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from verdicts.models import Delivery, Order, Status
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed

_OPEN_ORDER = (Status.CREATED, Status.AWAITING, Status.PAID, Status.GENERATING)
_FINAL_DELIVERY = (Delivery.State.SENT, Delivery.State.FAILED, Delivery.State.UNCERTAIN)
_START_WORKERS = "start the workers: Q_CLUSTER_NAME={queue} python manage.py worker"


def wait_for_final_status(run: Run, order: Order) -> Order:
    """The order once it has a final status, successful or not."""

    def final() -> Order | None:
        order.refresh_from_db()
        return None if order.status in _OPEN_ORDER else order

    if run.deadline.wait_for("the verdict", final) is None:
        raise Failed(
            "a finished order",
            f"order {order.pk} is {order.get_status_display()} after {order.attempts} attempts"
            f"{f': {order.reason}' if order.reason else ''}",
            _START_WORKERS.format(queue="generate")
            if not order.attempts
            else "does the model respond? Try `manage.py ask`; or allow more time: --timeout",
        )
    return order


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent email, with the message from the sandbox's mailbox if there is one."""

    to: str
    message: dict[str, Any] | None

    def check(self, in_text: str, in_subject: str = "") -> str:
        if self.message is None:
            return f"sent to {self.to}"
        if in_text not in self.message["text"] or in_subject not in self.message["subject"]:
            raise Failed(
                f"an email with {in_text!r}",
                f"one with the subject {self.message['subject']!r} and without it",
                "read it in the sandbox's mailbox, /mailbox",
            )
        return f"arrived: {self.message['subject']}"


def wait_for_email(run: Run, what: str, deliveries: QuerySet[Delivery]) -> Sent:
    """The email of the first of `deliveries` that is sent."""

    def final() -> Delivery | None:
        return deliveries.filter(state__in=_FINAL_DELIVERY).select_related("order").first()

    found = run.deadline.wait_for(what, final) or deliveries.first()
    if found is None or found.state not in _FINAL_DELIVERY:
        tried = found is not None and found.attempts
        raise Failed(
            f"{what} to be sent",
            "it was never queued"
            if found is None
            else f"{found.state}: {found.error or 'untried'}",
            f"is the mail server up? ORACLE_MAIL is {settings.ORACLE_MAIL}"
            if tried
            else _START_WORKERS.format(queue="post"),
        )
    if found.state != Delivery.State.SENT:
        raise Failed(
            f"{what} to be sent",
            f"{found.get_state_display()}: {found.error}",
            f"repair the mail (ORACLE_MAIL is {settings.ORACLE_MAIL}), then run it again",
        )
    return Sent(found.order.email, _message_in_mailbox(run, found))


def _message_in_mailbox(run: Run, delivery: Delivery) -> dict[str, Any] | None:
    if not (run.sandbox and run.has_mailbox):
        return None
    message = run.sandbox.message(delivery.message_id, to=run.email)
    if message is None:
        raise Failed(
            f"a message to {run.email} in the sandbox's mailbox",
            "none with its Message-ID",
            "is this the site's sandbox? SANDBOX_URL must be that of the site",
        )
    return message
