"""The first order: bought, paid, judged, emailed, and read from the cache."""

from typing import Final

from django.conf import settings

from audit.models import ModelCall
from verdicts.core.tiers import Price
from verdicts.models import Delivery, Order, Status, StripeEvent, Verdict
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import CONSOLE, Failed
from verdicts.smoke_test.marking import mark_as_smoke
from verdicts.smoke_test.polling import wait_for_email, wait_for_end
from verdicts.smoke_test.site_client import told

PAID: Final = ("checkout.session.completed", "checkout.session.async_payment_succeeded")
NEVER_PAID: Final = (Status.EXPIRED, Status.PAYMENT_FAILED)
IDEA: Final = (
    "A repair café in the empty shop beside the library, every second Saturday: volunteers mend "
    "lamps, bicycles and clothes, visitors pay what they like. (smoke test {tag})"
)


def site(run: Run) -> str:
    """It is up, and says of itself that it can work."""
    reply = run.shop.readiness()
    checks = reply.body.get("checks")
    if reply.status != 200 or not isinstance(checks, dict):
        told_of = checks.items() if isinstance(checks, dict) else ()
        wrong = [f"{name}: {one['says']}" for name, one in told_of if not one["ok"]]
        raise Failed(
            f"200 from {run.shop.url}/readyz",
            "; ".join(wrong) or told(reply),
            "mend that first: docs/MONITORING.md says how"
            if wrong
            else "is this the site's own address? Name it as customers do: --site URL",
        )
    queued = run.sandbox.faults() if run.sandbox else 0
    faults = "1 fault" if queued == 1 else f"{queued} faults"
    others = f"; the sandbox has {faults} queued by others" if queued else ""
    return f"{run.shop.url} is ready{others}"


def purchase(run: Run) -> str:
    newest = StripeEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    run.last_event = newest or 0
    run.order = buy(run, IDEA.format(tag=run.tag))
    price = Price(run.order.price_cents, run.order.currency)
    return f"{run.tier}, {price}: order {run.order.pk}, marked as smoke and paid"


def buy(run: Run, query: str) -> Order:
    """Ordered as a customer does, marked before it can be paid, then paid."""
    reply = run.shop.order(tier=run.tier, query=query, email=run.email)
    session_id = str(reply.body.get("session_id", ""))
    if reply.status != 201 or not session_id:
        raise Failed(
            "201 with a Checkout session",
            told(reply),
            "read the site's service log; with 503, whether Stripe can be reached",
        )
    order = mark_as_smoke(session_id, query=query, who=run.who)
    if order is None:
        raise Failed(
            "the new order in this database",
            "no unpaid order by its session id with the query that was sent",
            f"run this where {run.shop.url} runs, with its DATABASE_URL; nothing was paid",
        )
    run.orders.append(order)
    if run.sandbox:
        run.sandbox.pay(session_id, email=run.email)
    else:
        _let_somebody_pay(run, order, str(reply.body.get("url", "")))
    return order


def _let_somebody_pay(run: Run, order: Order, url: str) -> None:
    if (order.session_id or "").startswith("cs_live_"):
        raise Failed(
            "a session of Stripe's test mode",
            f"order {order.pk} would cost real money",
            "do not pay it; the site's STRIPE_SECRET_KEY must be one of the test mode",
        )
    run.say(f"pay here {url}")
    run.say("         card 4242 4242 4242 4242, any future date, any CVC: no real money is taken")

    def is_over() -> Order | None:
        order.refresh_from_db()
        return order if order.paid_at or order.status in NEVER_PAID else None

    run.deadline.wait_for("the payment", is_over)
    if not order.paid_at:
        raise Failed(
            "a payment at the address above",
            f"none within {run.deadline.seconds:.0f} s; the order is {order.get_status_display()}",
            "run it again and pay, with more time if need be: --timeout SECONDS",
        )


def webhook(run: Run) -> str:
    """A reader's page would find the payment by itself: this is whether Stripe's news arrives."""
    named = StripeEvent.objects.filter(
        pk__gt=run.last_event, type__in=PAID, object__contains=f'"{run.order.session_id}"'
    )

    def processed() -> StripeEvent | None:
        return named.filter(processed_at__isnull=False).first()

    event = run.deadline.wait_for("Stripe's webhook", processed)
    if event is None:
        waits = named.exists()
        raise Failed(
            "Stripe's event about the payment",
            "it arrived, and could not be processed" if waits else "none has arrived",
            "the service log says why"
            if waits
            else f"does Stripe's dashboard send to {settings.SITE_URL}/api/webhook, and is "
            "STRIPE_WEBHOOK_SECRET the secret of that very endpoint?",
        )
    return f"{event.type}: {event.get_outcome_display()}"


def verdict(run: Run) -> str:
    order = wait_for_end(run, run.order)
    if order.status != Status.DELIVERED:
        raise Failed(
            "a delivered verdict",
            f"order {order.pk} is {order.get_status_display()}: {order.reason}",
            CONSOLE,
        )
    run.original = Verdict.objects.get(order=order, kind="original")
    run.answer = reply = run.shop.read(order.session_id or "")
    body = reply.body
    label = body.get("verdict", {}).get("verdict")
    if reply.status != 200 or label != run.original.label or body.get("regen") is not False:
        raise Failed(
            f"200 with the stored {run.original.label} from /api/verdict",
            told(reply) if reply.status != 200 else f"{label}, regen {body.get('regen')}",
            CONSOLE,
        )
    page = run.shop.open(order.session_id or "")
    if page.status != 200 or run.original.fingerprint not in page.text:
        raise Failed(
            f"the fingerprint {run.original.fingerprint} on the result page",
            told(page) if page.status != 200 else "a page without it",
            "compare /oracle/result with /api/verdict: both are read from the same answer",
        )
    score = run.original.crosscheck.coherence_score
    return f"{label}, score {score:.3f}; API and page say the same"


def email(run: Run) -> str:
    owed = Delivery.objects.filter(order=run.order, kind=Delivery.Kind.VERDICT)
    message = wait_for_email(run, "the verdict email", owed)
    return message.check(run.original.fingerprint, run.original.label)


def cache_hit(run: Run) -> str:
    session_id = run.order.session_id or ""
    calls = ModelCall.objects.filter(session_id=session_id)
    before = calls.count()
    again = run.shop.read(session_id)
    if again.status != 200 or again.text != run.answer.text:
        raise Failed(
            "the same answer again, byte for byte",
            told(again) if again.status != 200 else "another one",
            "the order's page in the console says whether its cached answer was removed",
        )
    if calls.count() != before:
        raise Failed(
            "no call to the model", "there was one", "a cached answer is not found: a defect"
        )
    return "the same answer, byte for byte, and no call to the model"
