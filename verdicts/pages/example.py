"""The example verdict on the landing page: invented, in the form of a real one."""

from typing import Final

from verdicts.core.charts.radar import radar_chart
from verdicts.core.label_texts import MEANING
from verdicts.core.presentation import PresentedDimension, PresentedVerdict

# Customer-facing text.
_READING: Final = PresentedVerdict(
    label="AMBER",
    summary=(
        "The shop is sound and the subscription is not. You count on members before anybody "
        "has tried a single loaf, so the part that pays the rent is the part you know least "
        "about. Sell bread by the piece for a month, and the plan can stand."
    ),
    dimensions=(
        PresentedDimension("Stability", "GREEN", "The rent is covered by the school's lease."),
        PresentedDimension("Turbulence", "AMBER", "Two bakers and one oven: who goes first?"),
        PresentedDimension("Change Rate", "GREEN", "A village of 4,000 will not outrun you."),
        PresentedDimension("Completion", "RED", "Nobody has agreed to buy yet."),
        PresentedDimension("Curvature", "AMBER", "Each new member makes the queue longer."),
    ),
    next_step="Bake forty loaves this Saturday and sell them at the gate, at the full price.",
    alternative="Supply the two cafés on the square first, and open the shop from that income.",
    tests=("Thirty of forty loaves sold by noon, two Saturdays in a row.",),
)

EXAMPLE: Final[dict[str, object]] = {
    "query": (
        "A village bakery that bakes to order, two days a week, in the old school kitchen. "
        "Members pay by the month."
    ),
    "reading": _READING,
    "meaning": MEANING["AMBER"],
    "picture": radar_chart(_READING.dimensions),
}
