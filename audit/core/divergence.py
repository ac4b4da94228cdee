"""How far a regenerated verdict differs from the emailed one, and why.

Pure: no I/O, no clock, no Django. The caller compares after the response has been
sent, and records every comparison, with or without a difference.

Policy
- Only the top-level label decides the level: equal labels are `none`; one step on
  GREEN - AMBER - RED is `minor`; two steps, or to or from NULL, are `significant`.
- If either label is UNKNOWN, there is no level (R11).
- Every divergence has a cause (R14): each of prompt, config and model that
  changed, or infrastructure if none did. For an original without provenance
  (recovered from the log alone) the cause is unknown.
"""

from typing import Any, Final, Literal, NamedTuple

from audit.core.vocabulary import DIMENSIONS, LABELS, TIERS_WITH_BREAKDOWN, UNKNOWN, TierName

Level = Literal["none", "minor", "significant"]
Cause = Literal["prompt", "config", "model", "infrastructure", "unknown"]

_SCALE: Final = {"GREEN": 0, "AMBER": 1, "RED": 2}
_COMPARABLE: Final = frozenset({*LABELS, UNKNOWN})


class DimensionChange(NamedTuple):
    """One dimension of both verdicts. A missing label is UNKNOWN."""

    dimension: str
    original: str
    regen: str
    level: Level | None
    same_analysis: bool


class Provenance(NamedTuple):
    """The inputs of a verdict. `model_version` is as reported by the provider; may be empty."""

    prompt_sha256: str
    config: str
    model: str
    model_version: str = ""


def classify(original: str, regen: str) -> Level | None:
    """The level of divergence between two labels; None if either is UNKNOWN. Symmetric."""
    for label in (original, regen):
        if label not in _COMPARABLE:
            raise ValueError(f"{label!r} is not a verdict label")
    if UNKNOWN in (original, regen):
        return None
    if original == regen:
        return "none"
    if "NULL" in (original, regen):
        return "significant"
    return "minor" if abs(_SCALE[original] - _SCALE[regen]) == 1 else "significant"


def compare_dimensions(
    tier: TierName, original: dict[str, Any], regen: dict[str, Any]
) -> tuple[DimensionChange, ...]:
    """The dimensions that either payload has; none for a quick verdict."""
    if tier not in TIERS_WITH_BREAKDOWN:
        return ()
    before, after = _breakdown(original), _breakdown(regen)
    changes = []
    for name in DIMENSIONS:
        if name in before or name in after:
            was, now = _entry(before, name), _entry(after, name)
            text = was.get("analysis")
            same = isinstance(text, str) and text == now.get("analysis")
            labels = (_label(was), _label(now))
            changes.append(DimensionChange(name, *labels, classify(*labels), same))
    return tuple(changes)


def attribute(original: Provenance | None, regen: Provenance) -> tuple[Cause, ...]:
    """The possible causes of a divergence; never empty."""
    if original is None:
        return ("unknown",)
    changed: list[Cause] = []
    if original.prompt_sha256 != regen.prompt_sha256:
        changed.append("prompt")
    if original.config != regen.config:
        changed.append("config")
    # Versions differ only if both were reported.
    versions = {original.model_version, regen.model_version} - {""}
    if original.model != regen.model or len(versions) > 1:
        changed.append("model")
    return tuple(changed) or ("infrastructure",)


def _breakdown(payload: dict[str, Any]) -> dict[str, Any]:
    breakdown = payload.get("breakdown")
    return breakdown if isinstance(breakdown, dict) else {}


def _entry(breakdown: dict[str, Any], name: str) -> dict[str, Any]:
    entry = breakdown.get(name)
    return entry if isinstance(entry, dict) else {}


def _label(entry: dict[str, Any]) -> str:
    label = entry.get("verdict")
    return label if isinstance(label, str) and label in LABELS else UNKNOWN
