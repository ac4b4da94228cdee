"""A second order, whose answer the gate must not let out."""

from audit.models import CrosscheckLog
from verdicts.models import CachedVerdict, Delivery, Order, Status
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import CONSOLE, Failed, NotRun
from verdicts.smoke_test.polling import wait_for_email, wait_for_end
from verdicts.smoke_test.purchase import IDEA, buy
from verdicts.smoke_test.site_client import told


def crosscheck(run: Run) -> str:
    if run.sandbox is None:
        raise NotRun(
            "a live model cannot be made to answer badly; `score_verdict` tries the gate alone"
        )
    tag = f"{run.tag} rejected"
    run.sandbox.next_answer("malformed", about=tag)
    order = wait_for_end(run, buy(run, IDEA.format(tag=tag)))
    if order.status != Status.REJECTED:
        raise Failed(
            "an answer that is no JSON to be rejected",
            f"order {order.pk} is {order.get_status_display()}",
            "the gate has let it out: stop selling, and look at the crosscheck's row",
        )
    nothing_left_the_house(order)
    reply = run.shop.read(order.session_id or "")
    if (reply.status, reply.body.get("type")) != (422, "rejected"):
        raise Failed("422, rejected", told(reply), CONSOLE)
    owed = Delivery.objects.filter(order=order, kind=Delivery.Kind.HELD_BACK)
    wait_for_email(run, "the email that it was held back", owed).check("", "held back")
    check = CrosscheckLog.objects.get(session_id=order.session_id)
    return f"rejected as {check.crosscheck_reason}: 422, nothing stored, the customer told"


def nothing_left_the_house(order: Order) -> None:
    wrong = []
    if order.verdicts.exists():
        wrong.append("a stored verdict")
    if CachedVerdict.objects.filter(session_id=order.session_id).exists():
        wrong.append("a cached answer")
    if order.deliveries.filter(kind=Delivery.Kind.VERDICT).exists():
        wrong.append("a verdict email")
    if wrong:
        raise Failed(
            "nothing of a rejected answer to leave the house",
            " and ".join(wrong),
            "stop selling: the gate is not closed",
        )
