"""The locked parameters of every model call whose answer a customer may see.

Pure: no I/O, no clock, no Django. Original and regeneration send the same
config (R1): greedy sampling, one candidate, a derived seed, no thinking. Whether
a model honours the parameters is in `capabilities`.
"""

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from audit.core.vocabulary import TierName
from verdicts.core.capabilities import gemini_capabilities
from verdicts.core.determinism import (
    Applied,
    Inputs,
    Overrides,
    Settings,
    decide,
    sources_fingerprint,
)
from verdicts.core.prompt import build_verdict_prompt, template_sha256
from verdicts.core.tiers import TIER

TOP_P: Final = 1.0
TOP_K: Final = 1
CANDIDATES: Final = 1
# A strategy verdict has about 1,000 tokens; ten times that truncates no regular answer.
MAX_OUTPUT_TOKENS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A complete request to the model. `config` is everything sent besides the prompt."""

    model: str
    prompt: str
    config: dict[str, Any]
    asked: Overrides
    applied: Applied

    @property
    def prompt_sha256(self) -> str:
        return sha256(self.prompt.encode()).hexdigest()


def canonical_config(config: dict[str, Any]) -> str:
    """JSON that is equal exactly when the configs are."""
    return json.dumps(config, sort_keys=True, separators=(",", ":"))


def locked_request(
    *,
    model: str,
    tier: TierName,
    query: str,
    authorization: int | None = None,
    delivered_seed: int | None = None,
) -> ModelRequest:
    """The request for a customer's verdict, without overrides.

    A regeneration passes the original's seed as `delivered_seed` (R15), so that only
    a change of prompt or model changes the request.
    """
    request = build_request(
        model=model,
        tier=tier,
        query=query,
        authorization=authorization,
        overrides=Overrides(),
        settings=Settings(default_temperature=0.0),
    )
    if delivered_seed is None or request.applied.seed is None:
        return request
    return replace(
        request,
        config={**request.config, "seed": delivered_seed},
        applied=replace(request.applied, seed=delivered_seed),
    )


def build_request(
    *,
    model: str,
    tier: TierName,
    query: str,
    authorization: int | None,
    overrides: Overrides,
    settings: Settings,
) -> ModelRequest:
    fingerprint = sources_fingerprint(
        model=model, tier=tier, template_sha256=template_sha256(tier), authorization=authorization
    )
    applied = decide(Inputs(query, fingerprint), gemini_capabilities(model), overrides, settings)
    config: dict[str, Any] = {
        "top_p": TOP_P,
        "top_k": TOP_K,
        "candidate_count": CANDIDATES,
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "thinking_budget": 0,
        "response_mime_type": "application/json",
        "response_json_schema": TIER[tier].schema,
    }
    if applied.temperature is not None:
        config["temperature"] = applied.temperature
    if applied.seed is not None:
        config["seed"] = applied.seed
    return ModelRequest(
        model=model,
        prompt=build_verdict_prompt(tier, query),
        config=config,
        asked=overrides,
        applied=applied,
    )
