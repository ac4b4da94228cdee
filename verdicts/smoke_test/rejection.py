"""A second order, whose output the gate must reject."""

from audit.models import CrosscheckLog
from verdicts.models import CachedVerdict, Delivery, Order, Status
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import CONSOLE, Failed, NotRun
from verdicts.smoke_test.polling import wait_for_email, wait_for_final_status
from verdicts.smoke_test.purchase import IDEA, buy
from verdicts.smoke_test.site_client import describe


def crosscheck(run: Run) -> str:
    if run.sandbox is None:
        raise NotRun(
            "a live model cannot be made to answer badly; `score_verdict` tests the gate alone"
        )
    tag = f"{run.tag} rejected"
    run.sandbox.next_answer("malformed", about=tag)
    order = wait_for_final_status(run, buy(run, IDEA.format(tag=tag)))
    if order.status != Status.REJECTED:
        raise Failed(
            "an output that is not JSON to be rejected",
            f"order {order.pk} is {order.get_status_display()}",
            "the gate approved it: stop selling, and read the order's crosscheck in the console",
        )
    require_nothing_released(order)
    reply = run.client.read(order.session_id or "")
    if (reply.status, reply.body.get("type")) != (422, "rejected"):
        raise Failed("422, rejected", describe(reply), CONSOLE)
    deliveries = Delivery.objects.filter(order=order, kind=Delivery.Kind.HELD_BACK)
    wait_for_email(run, "the email that it was held back", deliveries).check("", "held back")
    check = CrosscheckLog.objects.get(session_id=order.session_id)
    return f"rejected as {check.crosscheck_reason}: 422, nothing stored, customer notified"


def require_nothing_released(order: Order) -> None:
    released = []
    if order.verdicts.exists():
        released.append("a stored verdict")
    if CachedVerdict.objects.filter(session_id=order.session_id).exists():
        released.append("a cached verdict")
    if order.deliveries.filter(kind=Delivery.Kind.VERDICT).exists():
        released.append("a verdict email")
    if released:
        raise Failed(
            "a rejected output to be neither stored, cached nor emailed",
            " and ".join(released),
            "stop selling: the gate lets rejected outputs through",
        )
