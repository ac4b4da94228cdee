"""Waiting for what the workers do, and saying why where they do not."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from verdicts.models import Delivery, Order, Status
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed

_UNDER_WAY = (Status.CREATED, Status.AWAITING, Status.PAID, Status.GENERATING)
_ENDED = (Delivery.State.SENT, Delivery.State.FAILED, Delivery.State.UNCERTAIN)
_WORKERS = "start the workers: Q_CLUSTER_NAME={queue} python manage.py worker"


def wait_for_end(run: Run, order: Order) -> Order:
    """The order once it is judged, whatever came of it."""

    def ended() -> Order | None:
        order.refresh_from_db()
        return None if order.status in _UNDER_WAY else order

    if run.deadline.wait_for("the verdict", ended) is None:
        raise Failed(
            "an order that is judged",
            f"order {order.pk} is {order.get_status_display()} after {order.attempts} attempts"
            f"{f': {order.reason}' if order.reason else ''}",
            _WORKERS.format(queue="generate")
            if not order.attempts
            else "is the model there? `manage.py ask` tries it alone; or allow more: --timeout",
        )
    return order


@dataclass(frozen=True, slots=True)
class Sent:
    """An email that was sent, and as it arrived where there is a mailbox to look into."""

    to: str
    message: dict[str, Any] | None

    def check(self, in_text: str, in_subject: str = "") -> str:
        if self.message is None:
            return f"sent to {self.to}"
        if in_text not in self.message["text"] or in_subject not in self.message["subject"]:
            raise Failed(
                f"an email with {in_text!r}",
                f"one with the subject {self.message['subject']!r} and without it",
                "read it in the sandbox's mailbox, at /mailbox",
            )
        return f"arrived: {self.message['subject']}"


def wait_for_email(run: Run, what: str, owed: QuerySet[Delivery]) -> Sent:
    """The one email of `owed`, once it is sent."""

    def ended() -> Delivery | None:
        return owed.filter(state__in=_ENDED).select_related("order").first()

    found = run.deadline.wait_for(what, ended) or owed.first()
    if found is None or found.state not in _ENDED:
        tried = found is not None and found.attempts
        raise Failed(
            f"{what} to be sent",
            "it is not even owed"
            if found is None
            else f"{found.state}: {found.error or 'untried'}",
            f"is the mail server there? ORACLE_MAIL is {settings.ORACLE_MAIL}"
            if tried
            else _WORKERS.format(queue="post"),
        )
    if found.state != Delivery.State.SENT:
        raise Failed(
            f"{what} to be sent",
            f"{found.get_state_display()}: {found.error}",
            f"mend the mail (ORACLE_MAIL is {settings.ORACLE_MAIL}), then run it again",
        )
    return Sent(found.order.email, _arrived(run, found))


def _arrived(run: Run, delivery: Delivery) -> dict[str, Any] | None:
    if not (run.sandbox and run.has_mailbox):
        return None
    message = run.sandbox.message(delivery.message_id, to=run.email)
    if message is None:
        raise Failed(
            f"a message to {run.email} in the sandbox's mailbox",
            "none with its Message-ID",
            "is it the sandbox of this site? SANDBOX_URL must be the site's",
        )
    return message
