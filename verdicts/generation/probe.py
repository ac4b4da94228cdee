"""Repeats one locked call to measure how far the model agrees with itself (REGEN-GAP-06).

It belongs to no session: no order, no line in the log (C18).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from audit.core.parsing import parse
from audit.core.vocabulary import DIMENSIONS, UNKNOWN, TierName
from audit.models import DeterminismProbe
from verdicts.core.agreement import Reply, agreement
from verdicts.core.errors import ModelBusy
from verdicts.core.request_config import locked_request
from verdicts.generation.ask import Asked, ask_once
from verdicts.generation.generate import Generate


def probe(
    *,
    tier: TierName,
    query: str,
    model: str,
    times: int,
    ask: Generate,
    progress: Callable[[int], None],
) -> DeterminismProbe | None:
    """The stored probe, or None where fewer than two calls were answered.

    Raises ModelRefused and ModelRetired: to repeat those calls would change nothing.
    """
    request = locked_request(model=model, tier=tier, query=query)
    found: list[Asked] = []
    for number in range(times):
        with suppress(ModelBusy):  # counted as unanswered
            found.append(ask_once(request, tier=tier, ask=ask))
        progress(number + 1)
    if len(found) < 2:
        return None
    agreed = agreement([_reply(one, tier) for one in found])
    return DeterminismProbe.objects.create(
        tier=tier,
        model=model,
        prompt_sha256=request.prompt_sha256,
        temperature=request.applied.temperature,
        seed=request.applied.seed,
        asked=times,
        unanswered=times - len(found),
        rejected=sum(not one.decision.approved for one in found),
        low=agreed.interval.low,
        high=agreed.interval.high,
        model_versions=sorted({_storable(one.answer.model_version) for one in found}),
        prompt_tokens=sum(max(0, one.answer.prompt_tokens) for one in found),
        output_tokens=sum(max(0, one.answer.output_tokens) for one in found),
        **agreed._asdict(),
    )


def _reply(one: Asked, tier: TierName) -> Reply:
    payload: Any = parse(one.answer.text) or {}
    dimensions = None if tier == "quick" else _labels(payload.get("breakdown"))
    return Reply(one.decision.verdict_label, dimensions, one.answer.text)


def _labels(breakdown: Any) -> tuple[str, ...]:
    given = breakdown if isinstance(breakdown, dict) else {}
    entries = [given.get(name) for name in DIMENSIONS]
    return tuple(
        str(entry.get("verdict")) if isinstance(entry, dict) else UNKNOWN for entry in entries
    )


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "")[:100]
