"""The closed words of a verdict: labels, tiers, dimensions, strategy fields.

One source: the gate scores these names, the prompt asks for them, the schema
lists them and the pages show them. Nothing is trimmed or case-folded (C11).
"""

from typing import Final, Literal

Label = Literal["GREEN", "AMBER", "RED", "NULL"]
# A new tier: CONTRIBUTING.md lists the modules that change with it.
TierName = Literal["quick", "full", "strategy"]
Kind = Literal["original", "regen"]

LABELS: Final[tuple[Label, ...]] = ("GREEN", "AMBER", "RED", "NULL")
# What a record says where a label is missing or not one of the four.
UNKNOWN: Final = "UNKNOWN"

TIERS: Final[tuple[TierName, ...]] = ("quick", "full", "strategy")
# The tiers whose verdict is broken down by dimension.
TIERS_WITH_BREAKDOWN: Final[frozenset[str]] = frozenset({"full", "strategy"})

DIMENSIONS: Final = ("Stability", "Turbulence", "Change Rate", "Completion", "Curvature")
