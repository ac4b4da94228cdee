"""Checks of the first order: bought, paid, judged, emailed, and read from the cache."""

from typing import Final

from django.conf import settings

from audit.models import ModelCall
from verdicts.core.tiers import Price
from verdicts.models import Delivery, Order, Status, StripeEvent, Verdict
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import CONSOLE, Failed
from verdicts.smoke_test.marking import mark_as_smoke
from verdicts.smoke_test.polling import wait_for_email, wait_for_final_status
from verdicts.smoke_test.site_client import describe

PAYMENT_EVENTS: Final = ("checkout.session.completed", "checkout.session.async_payment_succeeded")
NEVER_PAID: Final = (Status.EXPIRED, Status.PAYMENT_FAILED)
IDEA: Final = (
    "A repair café in the empty shop beside the library, every second Saturday: volunteers mend "
    "lamps, bicycles and clothes, visitors pay what they like. (smoke test {tag})"
)


def site(run: Run) -> str:
    """The site responds and reports itself ready."""
    reply = run.client.readiness()
    checks = reply.body.get("checks")
    if reply.status != 200 or not isinstance(checks, dict):
        listed = checks.items() if isinstance(checks, dict) else ()
        problems = [f"{name}: {check['says']}" for name, check in listed if not check["ok"]]
        raise Failed(
            f"200 from {run.client.url}/readyz",
            "; ".join(problems) or describe(reply),
            "repair that first: see docs/MONITORING.md"
            if problems
            else "is this the site's public URL? Pass it: --site URL",
        )
    queued = run.sandbox.faults() if run.sandbox else 0
    faults = "1 fault" if queued == 1 else f"{queued} faults"
    note = f"; the sandbox has {faults} queued by others" if queued else ""
    return f"{run.client.url} is ready{note}"


def purchase(run: Run) -> str:
    newest = StripeEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    run.last_event = newest or 0
    run.order = buy(run, IDEA.format(tag=run.tag))
    price = Price(run.order.price_cents, run.order.currency)
    return f"{run.tier}, {price}: order {run.order.pk}, marked as smoke and paid"


def buy(run: Run, query: str) -> Order:
    """Order like a customer, mark the order before it can be paid, then pay."""
    reply = run.client.order(tier=run.tier, query=query, email=run.email)
    session_id = str(reply.body.get("session_id", ""))
    if reply.status != 201 or not session_id:
        raise Failed(
            "201 with a Checkout session",
            describe(reply),
            "read the site's service log; for 503, check that Stripe can be reached",
        )
    order = mark_as_smoke(session_id, query=query, who=run.who)
    if order is None:
        raise Failed(
            "the new order in this database",
            "no unpaid order by its session id with the query that was sent",
            f"run this where {run.client.url} runs, with its DATABASE_URL; nothing was paid",
        )
    run.orders.append(order)
    if run.sandbox:
        run.sandbox.pay(session_id, email=run.email)
    else:
        _wait_for_manual_payment(run, order, str(reply.body.get("url", "")))
    return order


def _wait_for_manual_payment(run: Run, order: Order, url: str) -> None:
    if (order.session_id or "").startswith("cs_live_"):
        raise Failed(
            "a session of Stripe's test mode",
            f"order {order.pk} would cost real money",
            "do not pay it; the site's STRIPE_SECRET_KEY must be a test key",
        )
    run.print_line(f"pay here {url}")
    run.print_line(
        "         card 4242 4242 4242 4242, any future date, any CVC: no real money is taken"
    )

    def paid_or_over() -> Order | None:
        order.refresh_from_db()
        return order if order.paid_at or order.status in NEVER_PAID else None

    run.deadline.wait_for("the payment", paid_or_over)
    if not order.paid_at:
        raise Failed(
            "a payment at the URL above",
            f"none within {run.deadline.seconds:.0f} s; the order is {order.get_status_display()}",
            "run it again and pay; for more time: --timeout SECONDS",
        )


def webhook(run: Run) -> str:
    """A paid order does not prove that the event arrived: the result page finds payments too."""
    events = StripeEvent.objects.filter(
        pk__gt=run.last_event, type__in=PAYMENT_EVENTS, object__contains=f'"{run.order.session_id}"'
    )

    def processed() -> StripeEvent | None:
        return events.filter(processed_at__isnull=False).first()

    event = run.deadline.wait_for("Stripe's webhook", processed)
    if event is None:
        arrived = events.exists()
        raise Failed(
            "Stripe's event about the payment",
            "it arrived, but could not be processed" if arrived else "none has arrived",
            "read the service log"
            if arrived
            else f"does Stripe send webhooks to {settings.SITE_URL}/api/webhook, and is "
            "STRIPE_WEBHOOK_SECRET the secret of that endpoint?",
        )
    return f"{event.type}: {event.get_outcome_display()}"


def verdict(run: Run) -> str:
    order = wait_for_final_status(run, run.order)
    if order.status != Status.DELIVERED:
        raise Failed(
            "a delivered verdict",
            f"order {order.pk} is {order.get_status_display()}: {order.reason}",
            CONSOLE,
        )
    run.original = Verdict.objects.get(order=order, kind="original")
    run.answer = reply = run.client.read(order.session_id or "")
    body = reply.body
    label = body.get("verdict", {}).get("verdict")
    if reply.status != 200 or label != run.original.label or body.get("regen") is not False:
        raise Failed(
            f"200 with the stored {run.original.label} from /api/verdict",
            describe(reply) if reply.status != 200 else f"{label}, regen {body.get('regen')}",
            CONSOLE,
        )
    page = run.client.open(order.session_id or "")
    if page.status != 200 or run.original.fingerprint not in page.text:
        raise Failed(
            f"the fingerprint {run.original.fingerprint} on the result page",
            describe(page) if page.status != 200 else "a page without it",
            "compare /oracle/result with /api/verdict: both show the same cached verdict",
        )
    score = run.original.crosscheck.coherence_score
    return f"{label}, score {score:.3f}; API and page agree"


def email(run: Run) -> str:
    deliveries = Delivery.objects.filter(order=run.order, kind=Delivery.Kind.VERDICT)
    message = wait_for_email(run, "the verdict email", deliveries)
    return message.check(run.original.fingerprint, run.original.label)


def cache_hit(run: Run) -> str:
    session_id = run.order.session_id or ""
    calls = ModelCall.objects.filter(session_id=session_id)
    before = calls.count()
    again = run.client.read(session_id)
    if again.status != 200 or again.text != run.answer.text:
        raise Failed(
            "the same response again, byte for byte",
            describe(again) if again.status != 200 else "a different one",
            "see the order's page in the console: was its cached verdict evicted?",
        )
    if calls.count() != before:
        raise Failed("no call to the model", "there was one", "a cached verdict was missed: a bug")
    return "the same response, byte for byte, and no call to the model"
