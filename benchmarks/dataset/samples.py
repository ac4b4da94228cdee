"""A pool of sample submissions, each with its prompt, gate decision and response body.

A million orders do not need a million different texts: every order uses one of these.
Prompts, decisions and bodies are computed by the product's own functions.
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
# Words per text, chosen so that the body of each tier has about 2.4 KB.
_SUMMARY_WORDS: Final = {"quick": 235, "full": 35, "strategy": 30}
_ANALYSIS_WORDS: Final = {"full": 37, "strategy": 27}
_CACHED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
# The label of the regeneration, by original label and divergence level.
_REGEN_LABELS: Final = {
    "GREEN": {"none": "GREEN", "minor": "AMBER", "significant": "RED"},
    "AMBER": {"none": "AMBER", "minor": "RED", "significant": "NULL"},
    "RED": {"none": "RED", "minor": "AMBER", "significant": "GREEN"},
}

Escape = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """A model output with its decision and rendered body; texts escaped for the loader."""

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
    request_config: str
    original: SampleVerdict
    regens: dict[str, SampleVerdict]  # by divergence level
    rejected: SampleVerdict


def samples(escape: Escape) -> list[Sample]:
    """The pool, identical on every call."""
    rng = random.Random(42)
    return [_sample(number, TIERS[number % len(TIERS)], rng, escape) for number in range(POOL)]


def _sample(number: int, tier: TierName, rng: random.Random, escape: Escape) -> Sample:
    query = f"Idea {number}: should I open a second bakery on Queen Street East before summer?"
    request = locked_request(model=MODEL, tier=tier, query=query)
    payload = _payload(tier, rng)
    label = payload["verdict"]

    def verdict(output: dict[str, Any], comparison: Comparison | None) -> SampleVerdict:
        return _verdict(tier, query, output, comparison, escape)

    return Sample(
        tier=tier,
        query=query,
        cents=CENTS[tier],
        prompt_sha256=request.prompt_sha256,
        request_config=escape(json.dumps(request.config)),
        original=verdict(payload, None),
        regens={
            level: verdict(_relabelled(payload, regen), Comparison(label, "checked", level))
            for level, regen in _REGEN_LABELS[label].items()
        },
        rejected=verdict({"summary": payload["summary"]}, None),
    )


def _payload(tier: TierName, rng: random.Random) -> dict[str, Any]:
    label = rng.choice(tuple(_REGEN_LABELS))
    payload: dict[str, Any] = {"verdict": label, "summary": _words(_SUMMARY_WORDS[tier], rng)}
    if tier != "quick":
        payload["breakdown"] = {
            name: {"verdict": label, "analysis": _words(_ANALYSIS_WORDS[tier], rng)}
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
    relabelled = copy.deepcopy(payload)
    relabelled["verdict"] = label
    for dimension in relabelled.get("breakdown", {}).values():
        dimension["verdict"] = label
    return relabelled


def _verdict(
    tier: TierName,
    query: str,
    payload: dict[str, Any],
    comparison: Comparison | None,
    escape: Escape,
) -> SampleVerdict:
    decision = crosscheck(payload, tier)
    rendered = render(
        tier=tier, query=query, payload=payload, cached_at=_CACHED_AT, comparison=comparison
    )
    contributions = [one._asdict() for one in decision.contributions]
    return SampleVerdict(
        decision=decision,
        payload=escape(json.dumps(payload)),
        flags=json.dumps(list(decision.flags)),
        contributions=escape(json.dumps(contributions)),
        body=escape(rendered.body),
        etag=rendered.etag,
    )
