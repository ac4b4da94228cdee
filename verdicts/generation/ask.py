"""One generation for no order: not delivered, no row, no line in the log (C18)."""

from dataclasses import dataclass

from audit.core.crosscheck import Decision, crosscheck
from audit.core.vocabulary import TierName
from verdicts.core.capabilities import GEMINI_MODELS, Parameter
from verdicts.core.determinism import Overrides, Settings
from verdicts.core.request_config import ModelRequest, build_request
from verdicts.generation.client import Answer
from verdicts.generation.generate import Generate


@dataclass(frozen=True, slots=True)
class Asked:
    request: ModelRequest
    answer: Answer
    decision: Decision


def prepare(
    *, tier: TierName, query: str, model: str, overrides: Overrides, default_temperature: float
) -> ModelRequest:
    """The request for a clean query. Raises SeedTooWide."""
    return build_request(
        model=model,
        tier=tier,
        query=query,
        authorization=None,
        overrides=overrides,
        settings=Settings(default_temperature=default_temperature),
    )


def ask_once(request: ModelRequest, *, tier: TierName, ask: Generate) -> Asked:
    """Call the model and score the answer. Raises a ModelError where there is no answer."""
    answer = ask(request)
    return Asked(request, answer, crosscheck(answer.text, tier))


def dropped(request: ModelRequest) -> list[Parameter]:
    """Parameters that are not sent, because the model's row says that it does not take them."""
    applied: dict[Parameter, float | int | None] = {
        "temperature": request.applied.temperature,
        "seed": request.applied.seed,
    }
    return [name for name, value in applied.items() if value is None]


def ignored(request: ModelRequest) -> list[Parameter]:
    """Parameters that are sent, and by the model's row ignored."""
    effects = GEMINI_MODELS.get(request.model, {})
    return [name for name, effect in effects.items() if effect == "ignored"]
