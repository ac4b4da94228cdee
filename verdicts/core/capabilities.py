"""Which request parameters each provider, and each Gemini model, supports.

Pure: no I/O, no clock, no Django. The tables answer two questions: what may be
sent (the determinism decider drops the rest), and what a model does with it (an
operator is warned about a model that ignores a locked parameter; a model that
rejects one cannot be locked at all).

Only Gemini is called (D4). The other providers are there to test the decider
with providers that lack a parameter.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

Parameter = Literal["temperature", "topP", "topK", "candidateCount", "seed"]
Effect = Literal["ignored", "rejected"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider supports. `seed_bits` is the width of its seed (D2)."""

    supports_citations: bool
    supports_seed: bool
    supports_temperature_zero: bool
    supports_streaming: bool
    seed_bits: int = 64

    @classmethod
    def conservative(cls) -> "Capabilities":
        """For an unlisted provider: temperature only."""
        return cls(
            supports_citations=False,
            supports_seed=False,
            supports_temperature_zero=True,
            supports_streaming=False,
        )


_FULL: Final = Capabilities(
    supports_citations=True,
    supports_seed=True,
    supports_temperature_zero=True,
    supports_streaming=True,
)

PROVIDERS: Final[dict[str, Capabilities]] = {
    # Gemini's seed is a signed 32-bit integer; we send 0 to 2^31 - 1.
    "gemini": replace(_FULL, seed_bits=31),
    "openai": _FULL,
    "anthropic": replace(_FULL, supports_seed=False),
    "huggingface": Capabilities.conservative(),
    "local": replace(Capabilities.conservative(), supports_temperature_zero=False),
    "custom": Capabilities.conservative(),
}

# The locked parameters that a model does not honour. Generation 3 accepts the sampling
# parameters and ignores them.
_GENERATION_3: Final[dict[Parameter, Effect]] = {
    "temperature": "ignored",
    "topP": "ignored",
    "topK": "ignored",
}
GEMINI_MODELS: Final[dict[str, dict[Parameter, Effect]]] = {
    "gemini-2.5-flash": {},
    "gemini-2.5-flash-lite": {},
    "gemini-2.5-pro": {},
    "gemini-3-flash-preview": _GENERATION_3,
    "gemini-3.1-flash-lite": _GENERATION_3,
    "gemini-3.1-pro-preview": _GENERATION_3,
    "gemini-3.5-flash": _GENERATION_3,
    "gemini-3.5-flash-lite": _GENERATION_3,
}


def capabilities_for(provider: str) -> Capabilities:
    """The provider's capabilities; the conservative ones for an unlisted provider."""
    return PROVIDERS.get(provider, Capabilities.conservative())


def gemini_capabilities(model: str) -> Capabilities:
    """Gemini's capabilities less what `model` rejects. What it ignores is still sent (R16)."""
    effects = GEMINI_MODELS.get(model, {})
    return replace(
        PROVIDERS["gemini"],
        supports_seed=effects.get("seed") != "rejected",
        supports_temperature_zero=effects.get("temperature") != "rejected",
    )
