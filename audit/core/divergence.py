"""How far a regenerated verdict is from the one that was emailed, and why.

Pure: no I/O, no clock, no Django. The caller compares after the page has been
answered, and records every comparison, also those that found nothing.

Policy
- Only the top-level label decides the level: the same is `none`, one step on
  GREEN - AMBER - RED is `minor`, two steps or to and from NULL `significant`.
- Where one side is UNKNOWN there is nothing to compare: no level (R11).
- Every divergence has a cause (R14): each of prompt, config and model that
  changed, or infrastructure where all three are equal. An original without
  provenance (recovered from the log alone) leaves the cause unknown.
"""

from typing import Any, Final, Literal, NamedTuple

from audit.core.vocabulary import DIMENSIONS, LABELS, TIERS_WITH_BREAKDOWN, UNKNOWN, TierName

Level = Literal["none", "minor", "significant"]
Cause = Literal["prompt", "config", "model", "infrastructure", "unknown"]

_SCALE: Final = {"GREEN": 0, "AMBER": 1, "RED": 2}
_COMPARABLE: Final = frozenset({*LABELS, UNKNOWN})


class DimensionChange(NamedTuple):
    """One dimension of both verdicts. A label that is not there is UNKNOWN."""

    dimension: str
    original: str
    regen: str
    level: Level | None
    same_analysis: bool


class Provenance(NamedTuple):
    """What a verdict came from. `model_version` is what the provider reported, if it did."""

    prompt_sha256: str
    config: str
    model: str
    model_version: str = ""


def classify(original: str, regen: str) -> Level | None:
    """The level of divergence between two labels; None where one is UNKNOWN. Symmetric."""
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
    """The dimensions that either payload has, side by side; none for a quick verdict."""
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
    """What can explain a difference; never empty."""
    if original is None:
        return ("unknown",)
    changed: list[Cause] = []
    if original.prompt_sha256 != regen.prompt_sha256:
        changed.append("prompt")
    if original.config != regen.config:
        changed.append("config")
    # A version that was not reported says nothing: only two reported ones can differ.
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
