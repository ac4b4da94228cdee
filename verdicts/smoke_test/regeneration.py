"""Checks of the same order after eviction: regenerated, compared, and the customer notified."""

from typing import Any, Final

from django.conf import settings

from audit.core.divergence import classify
from audit.core.vocabulary import LABELS
from audit.models import DivergenceEvent
from verdicts.core.disclaimer import NOTE
from verdicts.http.plain_http import Reply
from verdicts.models import Delivery, Verdict
from verdicts.results.cache import evict
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import CONSOLE, Failed, NotRun
from verdicts.smoke_test.polling import wait_for_email
from verdicts.smoke_test.site_client import describe

ACCEPTED: Final = 202
SIGNIFICANT: Final = "significant"
NOT_REGENERATED: Final = "no regeneration while ORACLE_CACHE_MISS is stored"


def regeneration(run: Run) -> str:
    """An ordinary cache miss. The sandbox's model is made to answer with another label."""
    emailed = run.original.label
    stored = settings.ORACLE_CACHE_MISS == "stored"
    expected = next(label for label in LABELS if classify(emailed, label) == SIGNIFICANT)
    if run.sandbox and not stored:
        run.sandbox.next_answer("verdict", about=run.tag, label=expected)
    body = _evict_and_read(run, regenerated=not stored)
    if stored:
        return "a miss, and the stored original again: ORACLE_CACHE_MISS is stored"
    run.regen = Verdict.objects.filter(order=run.order, kind="regen").latest("pk")
    label, authoritative = body["verdict"]["verdict"], body["divergence"]["emailed_verdict"]
    if label != run.regen.label or authoritative != emailed or (run.sandbox and label != expected):
        raise Failed(
            f"{expected if run.sandbox else run.regen.label}, and the emailed {emailed}",
            f"{label}, and {authoritative}",
            CONSOLE,
        )
    return f"a miss: regenerated as {label}; the emailed {emailed} is shown as authoritative"


def _evict_and_read(run: Run, *, regenerated: bool) -> dict[str, Any]:
    """The API's response to the next read."""
    if not evict(run.order, who=run.who, reason="smoke test: to see it regenerated"):
        raise Failed("a cached verdict to evict", "there is none", CONSOLE)
    reply = _read_until_regenerated(run)
    if reply.status != 200:
        raise Failed("200 with a verdict", describe(reply), CONSOLE)
    if reply.body.get("regen") is not regenerated:
        raise Failed(
            "a regenerated verdict" if regenerated else "the stored original",
            "the stored original" if regenerated else "a regenerated verdict",
            "is ORACLE_CACHE_MISS of the site the same as here? Here it is "
            f"{settings.ORACLE_CACHE_MISS}",
        )
    return reply.body


def _read_until_regenerated(run: Run) -> Reply:
    """The first read regenerates; it gets 202 if the concurrency limit is reached."""

    def read() -> Reply | None:
        reply = run.client.read(run.order.session_id or "")
        return None if reply.status == ACCEPTED else reply

    reply = run.deadline.wait_for("the regeneration", read)
    if reply is None:
        raise Failed(
            "a regenerated verdict",
            "still in progress at the deadline",
            "is the model slow? Try `manage.py ask`; or allow more time: --timeout",
        )
    return reply


def comparison(run: Run) -> str:
    if run.regen is None:
        raise NotRun(NOT_REGENERATED)
    events = DivergenceEvent.objects.filter(crosscheck=run.regen.crosscheck)
    event = run.deadline.wait_for("the comparison", events.first)
    if event is None:
        raise Failed(
            "the regeneration to be compared",
            "no worker has compared it",
            "start the workers: Q_CLUSTER_NAME=post python manage.py worker",
        )
    run.event = event
    shown = run.client.read(run.order.session_id or "").body.get("divergence") or {}
    if (shown.get("status"), shown.get("level")) != ("checked", event.level):
        raise Failed(
            f"the API to answer checked, {event.level}",
            f"{shown.get('status')}, {shown.get('level')}",
            CONSOLE,
        )
    causes = "" if event.level == "none" else f" ({', '.join(event.causes)})"
    return f"emailed {event.original_verdict}, now {event.regen_verdict}: {event.level}{causes}"


def divergence(run: Run) -> str:
    """API and page show a divergence, if there is one."""
    if run.regen is None:
        raise NotRun(NOT_REGENERATED)
    if run.event.level == "none":
        if run.sandbox:
            raise Failed("a significant divergence", "none", CONSOLE)
        raise NotRun("the live model gave the same verdict again, and cannot be made to differ")
    session_id, emailed = run.order.session_id or "", run.event.original_verdict
    disclaimer = (run.client.read(session_id).body.get("divergence") or {}).get("disclaimer") or ""
    page = run.client.open(session_id)
    stands = f"your emailed verdict {emailed} stands"
    if emailed not in disclaimer or stands not in page.text:
        raise Failed(
            f"API and page to say that the emailed {emailed} stands",
            "the API does not" if emailed not in disclaimer else "the page does not",
            CONSOLE,
        )
    return f"{run.event.level}: API and page say that the emailed {emailed} stands"


def notification(run: Run) -> str:
    if run.regen is None:
        raise NotRun(NOT_REGENERATED)
    if run.event.level != SIGNIFICANT:
        raise NotRun("only a significant divergence is emailed, and there was none")
    deliveries = Delivery.objects.filter(kind=Delivery.Kind.DIVERGENCE, regen=run.regen)
    return wait_for_email(run, "the divergence notification", deliveries).check(NOTE)
