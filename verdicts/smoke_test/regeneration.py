"""The same order once its cached answer is gone: made again, compared, and the customer told."""

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
from verdicts.smoke_test.site_client import told

WORKING: Final = 202
SIGNIFICANT: Final = "significant"
STORED: Final = "no regeneration while ORACLE_CACHE_MISS is stored"


def regeneration(run: Run) -> str:
    """A miss like any other. At the sandbox, the model is made to change its mind."""
    emailed = run.original.label
    stored = settings.ORACLE_CACHE_MISS == "stored"
    wanted = next(label for label in LABELS if classify(emailed, label) == SIGNIFICANT)
    if run.sandbox and not stored:
        run.sandbox.next_answer("verdict", about=run.tag, label=wanted)
    body = _missed(run, made_again=not stored)
    if stored:
        return "a miss, and the stored original again: ORACLE_CACHE_MISS is stored"
    run.regen = Verdict.objects.filter(order=run.order, kind="regen").latest("pk")
    label, stands = body["verdict"]["verdict"], body["divergence"]["emailed_verdict"]
    if label != run.regen.label or stands != emailed or (run.sandbox and label != wanted):
        raise Failed(
            f"{wanted if run.sandbox else run.regen.label}, beside the emailed {emailed}",
            f"{label}, beside {stands}",
            CONSOLE,
        )
    return f"a miss: made again, {label}, and the emailed {emailed} named as the one that stands"


def _missed(run: Run, *, made_again: bool) -> dict[str, Any]:
    """The answer to a reader whose cached one is gone."""
    if not evict(run.order, who=run.who, reason="smoke test: to see it made again"):
        raise Failed("a cached answer to remove", "there is none", CONSOLE)
    reply = _read_until_made(run)
    if reply.status != 200:
        raise Failed("200 with a verdict", told(reply), CONSOLE)
    if reply.body.get("regen") is not made_again:
        raise Failed(
            "a verdict that was made again" if made_again else "the stored original",
            "the stored original" if made_again else "a verdict that was made again",
            "is ORACLE_CACHE_MISS the same here and there? Here it is "
            f"{settings.ORACLE_CACHE_MISS}",
        )
    return reply.body


def _read_until_made(run: Run) -> Reply:
    """The first read makes it; where all slots are taken it is told to come back."""

    def read() -> Reply | None:
        reply = run.shop.read(run.order.session_id or "")
        return None if reply.status == WORKING else reply

    reply = run.deadline.wait_for("the regeneration", read)
    if reply is None:
        raise Failed(
            "a verdict that was made again",
            "still under way when the time was up",
            "is the model slow? `manage.py ask` tries it alone; or allow more: --timeout",
        )
    return reply


def comparison(run: Run) -> str:
    if run.regen is None:
        raise NotRun(STORED)
    of_this = DivergenceEvent.objects.filter(crosscheck=run.regen.crosscheck)
    event = run.deadline.wait_for("the comparison", of_this.first)
    if event is None:
        raise Failed(
            "the regeneration to be compared",
            "nobody has compared it",
            "start the workers: Q_CLUSTER_NAME=post python manage.py worker",
        )
    run.event = event
    said = run.shop.read(run.order.session_id or "").body.get("divergence") or {}
    if (said.get("status"), said.get("level")) != ("checked", event.level):
        raise Failed(
            f"the answer to say checked, {event.level}",
            f"{said.get('status')}, {said.get('level')}",
            CONSOLE,
        )
    causes = "" if event.level == "none" else f" ({', '.join(event.causes)})"
    return f"emailed {event.original_verdict}, now {event.regen_verdict}: {event.level}{causes}"


def divergence(run: Run) -> str:
    """That the reader is told: only where there is one."""
    if run.regen is None:
        raise NotRun(STORED)
    if run.event.level == "none":
        if run.sandbox:
            raise Failed("a significant divergence", "none", CONSOLE)
        raise NotRun("the live model said the same again, and cannot be made to differ")
    session_id, emailed = run.order.session_id or "", run.event.original_verdict
    disclaimer = (run.shop.read(session_id).body.get("divergence") or {}).get("disclaimer") or ""
    page = run.shop.open(session_id)
    stands = f"your emailed verdict {emailed} stands"
    if emailed not in disclaimer or stands not in page.text:
        raise Failed(
            f"answer and page to say that the emailed {emailed} stands",
            "the answer does not" if emailed not in disclaimer else "the page does not",
            CONSOLE,
        )
    return f"{run.event.level}: answer and page say that the emailed {emailed} stands"


def notification(run: Run) -> str:
    if run.regen is None:
        raise NotRun(STORED)
    if run.event.level != SIGNIFICANT:
        raise NotRun("only a significant divergence is told by email, and there was none")
    owed = Delivery.objects.filter(kind=Delivery.Kind.DIVERGENCE, regen=run.regen)
    return wait_for_email(run, "the notice of the divergence", owed).check(NOTE)
