"""The example verdict on the landing page: invented, in the form of a real one."""

from typing import Final

from verdicts.core.charts.dimensions import picture
from verdicts.core.label_texts import MEANING
from verdicts.core.presentation import Readable, ReadableDimension

_READING: Final = Readable(
    label="AMBER",
    summary=(
        "The shop is sound and the subscription is not. You count on members before anybody "
        "has tried a single loaf, so the part that pays the rent is the part you know least "
        "about. Sell bread by the piece for a month, and the plan can stand."
    ),
    dimensions=(
        ReadableDimension("Stability", "GREEN", "The rent is covered by the school's lease."),
        ReadableDimension("Turbulence", "AMBER", "Two bakers and one oven: who goes first?"),
        ReadableDimension("Change Rate", "GREEN", "A village of 4,000 will not outrun you."),
        ReadableDimension("Completion", "RED", "Nobody has agreed to buy yet."),
        ReadableDimension("Curvature", "AMBER", "Each new member makes the queue longer."),
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
    "picture": picture(_READING.dimensions),
}
