"""Complete verdicts, which tests modify."""

from typing import Any

from audit.core.vocabulary import DIMENSIONS

SUMMARY = "A summary that is long enough."
ANALYSIS = "A proper analysis of this dimension."


def complete(tier: str, label: str = "GREEN") -> dict[str, Any]:
    """A verdict of `tier` with every field, all of one label."""
    payload: dict[str, Any] = {"verdict": label, "summary": SUMMARY}
    if tier != "quick":
        payload["breakdown"] = {
            name: {"verdict": label, "analysis": ANALYSIS} for name in DIMENSIONS
        }
    if tier == "strategy":
        payload["strategy"] = {
            "next_step": "Ask ten customers.",
            "alternative": "Rent before you buy.",
            "tests": ["Three sign up.", "One pays.", "Nobody leaves."],
        }
    return payload


def required_paths(tier: str) -> list[tuple[str, ...]]:
    """The paths of all required fields of `tier` (C4)."""
    paths: list[tuple[str, ...]] = [("verdict",), ("summary",)]
    if tier != "quick":
        paths.append(("breakdown",))
        for name in DIMENSIONS:
            paths += [
                ("breakdown", name),
                ("breakdown", name, "verdict"),
                ("breakdown", name, "analysis"),
            ]
    if tier == "strategy":
        paths.append(("strategy",))
        paths += [("strategy", name) for name in ("next_step", "alternative", "tests")]
    return paths
