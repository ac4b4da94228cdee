"""What each verdict means, in the words that pages and emails share, and its sign.

Pure: no I/O, no clock, no Django. The words are those the model is given in the
prompt, said to the customer. A sign is a shape, so that no verdict is told by
colour alone; the pages draw the same four shapes.
"""

from dataclasses import dataclass
from typing import Final

from audit.core.vocabulary import Label


@dataclass(frozen=True, slots=True)
class Meaning:
    label: Label
    headline: str
    sentence: str
    sign: str  # as a character, for email


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
