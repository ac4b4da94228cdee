"""What the workers run: an id in, one service call, one sentence out."""

from django.conf import settings

from verdicts import outside
from verdicts.services import compare as comparing
from verdicts.services import deliver as delivering
from verdicts.services import fulfil as fulfilling
from verdicts.services import reconcile_hourly as reconciling
from verdicts.services import sweep as sweeping


def fulfil_order(order_id: int) -> str:
    verdict = fulfilling.fulfil(order_id, model=settings.ORACLE_MODEL, ask=outside.ask_model)
    return f"verdict {verdict.pk}" if verdict else "no verdict"


def deliver(delivery_id: int) -> str:
    delivery = delivering.deliver(delivery_id, send=outside.send_letter)
    return f"sent {delivery.pk}" if delivery else "not sent"


def compare(verdict_id: int) -> str:
    event = comparing.compare(verdict_id)
    return str(event) if event else "not compared"


def sweep() -> str:
    return str(sweeping.sweep())


def reconcile() -> str:
    return reconciling.reconcile_hourly(account=outside.stripe_account())
