"""The only way to a verdict: prompt, decider, model, gate.

Original and regeneration both use `generate`, with the same locked request. Each model call
leaves a ModelCall row, whatever its outcome. Only an output that the gate approved can be stored
as a verdict (`Judged.store`).
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from audit.core.crosscheck import Decision, crosscheck
from audit.core.parsing import parse
from audit.core.record import crosscheck_entry
from audit.core.vocabulary import Kind
from audit.log import log
from audit.models import CrosscheckLog, ModelCall
from verdicts.core.errors import (
    ModelBusy,
    ModelError,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRetired,
)
from verdicts.core.request_config import ModelRequest, locked_request
from verdicts.core.response_body import fingerprint
from verdicts.generation.client import Answer
from verdicts.models import Order, Status, Verdict

# The model client, as the caller passes it in.
Generate = Callable[[ModelRequest], Answer]

_OUTCOME = {
    ModelBusy: ModelCall.Outcome.BUSY,
    ModelQuotaExhausted: ModelCall.Outcome.BUSY,
    ModelRefused: ModelCall.Outcome.REFUSED,
    ModelRetired: ModelCall.Outcome.RETIRED,
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A model's output with the gate's decision on it."""

    order: Order
    kind: Kind
    call: ModelCall | None  # None: the output came from outside (`POST /cache`)
    output: str
    decision: Decision

    def record(self, order: Order) -> CrosscheckLog:
        """Store the decision's row and its log entry: for every decision, approved or not.

        `order` as it is now, locked by the caller: of an erased one no text is stored.
        """
        log.append(
            crosscheck_entry(
                session_id=order.session_id or "",
                tier=order.tier,
                query=order.query,
                decision=self.decision,
                kind=self.kind,
                at=timezone.now(),
                smoke=order.smoke,
            )
        )
        return CrosscheckLog.record(
            self.decision,
            "" if order.status == Status.ERASED else self.output,
            session_id=order.session_id or "",
            kind=self.kind,
            tier=order.tier,
            call=self.call,
            smoke=order.smoke,
        )

    def store(self, crosscheck_row: CrosscheckLog) -> Verdict:
        """Store the verdict: approved outputs only. A regeneration is due for comparison."""
        payload = parse(self.output)
        if not self.decision.approved or payload is None:
            raise ValueError("only what the gate approved can be stored")
        return Verdict.objects.create(
            order=self.order,
            kind=self.kind,
            label=self.decision.verdict_label,
            payload=payload,
            fingerprint=fingerprint(payload),
            call=self.call,
            crosscheck=crosscheck_row,
            compare_due_at=timezone.now() if self.kind == "regen" else None,
        )


def generate(
    order: Order, kind: Kind, *, model: str, ask: Generate, delivered_seed: int | None = None
) -> Judged:
    """Call the model and score the answer. Raises a ModelError where there is no answer."""
    request = locked_request(
        model=model,
        tier=order.tier,
        query=order.query,
        authorization=order.authorization,
        delivered_seed=delivered_seed,
    )
    answer, call = _call(order, kind, request, ask)
    return Judged(order, kind, call, answer.text, crosscheck(answer.text, order.tier))


def _call(
    order: Order, kind: Kind, request: ModelRequest, ask: Generate
) -> tuple[Answer, ModelCall]:
    started = time.monotonic()
    call = ModelCall(
        session_id=order.session_id or "",
        kind=kind,
        tier=order.tier,
        model=request.model,
        prompt_sha256=request.prompt_sha256,
        asked=asdict(request.asked),
        sent=request.config,
        outcome=ModelCall.Outcome.CRASHED,
        smoke=order.smoke,
    )
    try:
        answer = ask(request)
        call.outcome = ModelCall.Outcome.ANSWERED
        call.finish_reason = _storable(answer.finish_reason, 50)
        call.block_reason = _storable(answer.block_reason, 50)
        call.model_version = _storable(answer.model_version, 100)
        call.response_id = _storable(answer.response_id, 100)
        call.prompt_tokens = _count(answer.prompt_tokens)
        call.output_tokens = _count(answer.output_tokens)
    except ModelError as error:
        call.outcome = _OUTCOME[type(error)]
        call.error = str(error)
        raise
    except BaseException as error:
        call.error = type(error).__name__
        raise
    finally:
        call.duration_ms = round((time.monotonic() - started) * 1000)
        _save(call, order)
    return answer, call


def _save(call: ModelCall, order: Order) -> None:
    with transaction.atomic():
        # Locked: an erasure commits before this, and is respected, or after it, and finds the call.
        now = Order.objects.select_for_update().filter(pk=order.pk).first()
        if now and now.status == Status.ERASED:
            call.clear_query_data()
        call.save()


def _storable(text: str, length: int) -> str:
    """A provider's report, as far as a database column takes it."""
    return text.encode(errors="replace").decode().replace("\0", "")[:length]


def _count(number: int) -> int:
    return min(max(0, number), 2**31 - 1)
