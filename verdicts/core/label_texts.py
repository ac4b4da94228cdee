"""What each label means, as pages and emails show it, and its symbol.

Pure: no I/O, no clock, no Django. The meanings are those that the prompt gives
to the model, addressed to the customer. Symbols differ in shape, so that no label
depends on colour alone; the pages draw the same four shapes.
"""

from dataclasses import dataclass
from typing import Final

from audit.core.vocabulary import Label


@dataclass(frozen=True, slots=True)
class Meaning:
    label: Label
    headline: str
    sentence: str
    symbol: str  # a character, for emails


# Customer-facing text.
MEANING: Final[dict[Label, Meaning]] = {
    meaning.label: meaning
    for meaning in (
        Meaning("GREEN", "It holds together", "Coherent. It can be pursued as it stands.", "●"),
        Meaning(
            "AMBER",
            "One thing has to change first",
            "Partly coherent. What has to change is named.",
            "▲",
        ),
        Meaning(
            "RED",
            "It works against itself",
            "Incoherent. Pursued as it stands, it fails.",
            "■",
        ),
        Meaning(
            "NULL",
            "No reading",
            "Too little to judge by. An honest answer, not a failure.",
            "◌",
        ),
    )
}
