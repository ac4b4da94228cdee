"""What the orders of a filled house are about: a pool of samples, verdict_rows and rendered by the product.

A million texts need not be a million different ones: every order takes its idea
from here, with the prompt, the gate's decision and the body that the product makes of it.
"""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from audit.core.crosscheck import Decision, crosscheck
from audit.core.vocabulary import DIMENSIONS, TIERS, TierName
from verdicts.core.disclaimer import Comparison
from verdicts.core.request_config import locked_request
from verdicts.core.response_body import render

MODEL: Final = "gemini-2.5-flash"
POOL: Final = 300
CENTS: Final = {"quick": 200, "full": 500, "strategy": 1500}
# So that the body of each tier has about 2.4 KB.
_SUMMARY: Final = {"quick": 235, "full": 35, "strategy": 30}
_ANALYSIS: Final = {"full": 37, "strategy": 27}
_RENDERED: Final = datetime(2026, 1, 1, tzinfo=UTC)
# What each label turns to, by level of divergence.
_TURNS: Final = {
    "GREEN": {"none": "GREEN", "minor": "AMBER", "significant": "RED"},
    "AMBER": {"none": "AMBER", "minor": "RED", "significant": "NULL"},
    "RED": {"none": "RED", "minor": "AMBER", "significant": "GREEN"},
}

Escape = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer and what became of it; texts as the database's loader takes them."""

    decision: Decision
    payload: str
    flags: str
    contributions: str
    body: str
    etag: str

    @property
    def label(self) -> str:
        return self.decision.verdict_label


@dataclass(frozen=True, slots=True)
class Sample:
    tier: TierName
    query: str
    cents: int
    prompt_sha256: str
    sent: str
    original: Answer
    regens: dict[str, Answer]  # by level of divergence
    rejected: Answer


def samples(escape: Escape) -> list[Sample]:
    """The same pool every time."""
    rng = random.Random(42)
    return [_idea(number, TIERS[number % len(TIERS)], rng, escape) for number in range(POOL)]


def _idea(number: int, tier: TierName, rng: random.Random, escape: Escape) -> Sample:
    query = f"Sample {number}: should I open a second bakery on Queen Street East before summer?"
    request = locked_request(model=MODEL, tier=tier, query=query)
    payload = _payload(tier, rng)
    label = payload["verdict"]

    def answer(its: dict[str, Any], comparison: Comparison | None) -> Answer:
        return _answer(tier, query, its, comparison, escape)

    return Sample(
        tier=tier,
        query=query,
        cents=CENTS[tier],
        prompt_sha256=request.prompt_sha256,
        sent=escape(json.dumps(request.config)),
        original=answer(payload, None),
        regens={
            level: answer(_relabelled(payload, turned), Comparison(label, "checked", level))
            for level, turned in _TURNS[label].items()
        },
        rejected=answer({"summary": payload["summary"]}, None),
    )


def _payload(tier: TierName, rng: random.Random) -> dict[str, Any]:
    label = rng.choice(tuple(_TURNS))
    payload: dict[str, Any] = {"verdict": label, "summary": _words(_SUMMARY[tier], rng)}
    if tier != "quick":
        payload["breakdown"] = {
            name: {"verdict": label, "analysis": _words(_ANALYSIS[tier], rng)}
            for name in DIMENSIONS
        }
    if tier == "strategy":
        payload["strategy"] = {
            "next_step": _words(16, rng),
            "alternative": _words(16, rng),
            "tests": [_words(8, rng) for _ in range(3)],
        }
    return payload


def _words(count: int, rng: random.Random) -> str:
    return " ".join(f"word{rng.randrange(10_000)}" for _ in range(count))


def _relabelled(payload: dict[str, Any], label: str) -> dict[str, Any]:
    turned = copy.deepcopy(payload)
    turned["verdict"] = label
    for dimension in turned.get("breakdown", {}).values():
        dimension["verdict"] = label
    return turned


def _answer(
    tier: TierName,
    query: str,
    payload: dict[str, Any],
    comparison: Comparison | None,
    escape: Escape,
) -> Answer:
    decision = crosscheck(payload, tier)
    rendered = render(
        tier=tier, query=query, payload=payload, cached_at=_RENDERED, comparison=comparison
    )
    contributions = [one._asdict() for one in decision.contributions]
    return Answer(
        decision=decision,
        payload=escape(json.dumps(payload)),
        flags=json.dumps(list(decision.flags)),
        contributions=escape(json.dumps(contributions)),
        body=escape(rendered.body),
        etag=rendered.etag,
    )
