"""Decides which temperature and seed a model call sends.

Pure: no I/O, no transport, no clock, no Django. The caller sends `Applied` and
records `Applied`, never what was requested: a recorded seed that was not sent
proves nothing.

Policy
- Temperature: an override wins, else the setting's default; 0.0 is an override.
- Seed: an override wins, else it is derived from the question and the
  fingerprint of all other inputs of the answer; 0 is an override.
- A parameter that the provider does not support becomes None, override or not.
- A derived seed is masked to the provider's width (D2). An override that is too
  wide is rejected: masking it would send another seed than the caller chose.

A separate module, so that the decision is made in one place and each rule has
a test; call sites deciding for themselves would drift apart.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from verdicts.core.capabilities import Capabilities

__all__ = [
    "Applied",
    "Capabilities",
    "Inputs",
    "Overrides",
    "SeedTooWide",
    "Settings",
    "decide",
    "derive_seed",
    "sources_fingerprint",
]

# ASCII "unit separator": neither a query (control characters are rejected) nor a hex digest
# contains it, so joining the fields is unambiguous.
_SEPARATOR: Final = b"\x1f"


class SeedTooWide(ValueError):
    """An override seed that exceeds the provider's seed width."""


@dataclass(frozen=True, slots=True)
class Inputs:
    question: str
    sources_fingerprint: str


@dataclass(frozen=True, slots=True)
class Overrides:
    temperature: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    default_temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Applied:
    temperature: float | None
    seed: int | None


def decide(inputs: Inputs, caps: Capabilities, overrides: Overrides, settings: Settings) -> Applied:
    """The temperature and seed to send to a provider with `caps`."""
    return Applied(
        temperature=_temperature(caps, overrides.temperature, settings.default_temperature),
        seed=_seed(caps, overrides.seed, inputs),
    )


def derive_seed(question: str, sources_fingerprint: str) -> int:
    """The first eight bytes of SHA-256(question, 0x1f, fingerprint), little-endian."""
    digest = sha256(question.encode() + _SEPARATOR + sources_fingerprint.encode()).digest()
    return int.from_bytes(digest[:8], "little")


def sources_fingerprint(
    *, model: str, tier: str, template_sha256: str, authorization: int | None = None
) -> str:
    """All inputs of the answer besides the query, as SHA-256 hex (D1).

    `authorization` is the number of an authorized new generation, which needs
    another seed to get another answer.
    """
    parts = [model, tier, template_sha256]
    if authorization is not None:
        parts.append(str(authorization))
    return sha256(_SEPARATOR.join(part.encode() for part in parts)).hexdigest()


def _temperature(caps: Capabilities, override: float | None, default: float) -> float | None:
    if not caps.supports_temperature_zero:
        return None
    return default if override is None else override


def _seed(caps: Capabilities, override: int | None, inputs: Inputs) -> int | None:
    if not caps.supports_seed:
        return None
    largest = (1 << caps.seed_bits) - 1
    if override is None:
        return derive_seed(inputs.question, inputs.sources_fingerprint) & largest
    if not 0 <= override <= largest:
        raise SeedTooWide(f"the seed must be between 0 and {largest}, not {override}")
    return override
