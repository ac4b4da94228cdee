"""The fixed vocabulary of a verdict: labels, tiers and dimensions.

Shared by the gate, the prompt, the JSON schema and the pages. Matching is exact,
without trimming or case folding (C11).
"""

from typing import Final, Literal

Label = Literal["GREEN", "AMBER", "RED", "NULL"]
# A new tier: CONTRIBUTING.md lists the modules that change with it.
TierName = Literal["quick", "full", "strategy"]
Kind = Literal["original", "regen"]

LABELS: Final[tuple[Label, ...]] = ("GREEN", "AMBER", "RED", "NULL")
# Recorded for a label that is missing or not one of the four.
UNKNOWN: Final = "UNKNOWN"

TIERS: Final[tuple[TierName, ...]] = ("quick", "full", "strategy")
# Tiers with a breakdown by dimension.
TIERS_WITH_BREAKDOWN: Final[frozenset[str]] = frozenset({"full", "strategy"})

DIMENSIONS: Final = ("Stability", "Turbulence", "Change Rate", "Completion", "Curvature")
