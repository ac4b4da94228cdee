"""An approved verdict prepared for display: the tier's fields, in order, as plain text.

Pure: no I/O, no clock, no Django. Page and email both show this. Fields that the tier
does not include are dropped, and so is anything that is not text.

Policy
- Control characters except newline and tab are removed, and so are bidirectional
  overrides: prompt injection could make the model write them.
- In an email, addresses are defanged: mail programs turn them into links, and a link
  in our email would carry our authority. The text looks unchanged.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Final

from audit.core.vocabulary import DIMENSIONS, TierName

_BIDI_CONTROLS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A scheme, a domain or an at sign in a word; browsers accept dots of other scripts, too. No part
# repeats, so that matching is linear in the text's length: the text is untrusted.
_DOTS: Final = ".\u3002\uff0e\uff61"
_WORD: Final = re.compile(r"\S+")
_ADDRESS: Final = re.compile(
    rf"[^\W\d_]{{2}}:\S|@|\\\\|www[{_DOTS}]|[\w-][{_DOTS}][^\W\d_]{{2}}", re.IGNORECASE
)
_SEPARATOR: Final = re.compile(rf"[{_DOTS}:/@\\]")
_ZERO_WIDTH_SPACE: Final = "\u200b"


@dataclass(frozen=True, slots=True)
class PresentedDimension:
    name: str
    label: str
    analysis: str


@dataclass(frozen=True, slots=True)
class PresentedVerdict:
    label: str
    summary: str
    dimensions: tuple[PresentedDimension, ...] = ()
    next_step: str = ""
    alternative: str = ""
    tests: tuple[str, ...] = ()


def present(tier: TierName, payload: dict[str, Any]) -> PresentedVerdict:
    """`payload` must have passed the gate for `tier`: every required field is there."""
    clean = strip_control_characters
    label, summary = payload["verdict"], clean(payload["summary"])
    # A new tier needs its own branch if it shows other fields.
    if tier == "quick":
        return PresentedVerdict(label, summary)
    breakdown = payload["breakdown"]
    dimensions = tuple(
        PresentedDimension(name, breakdown[name]["verdict"], clean(breakdown[name]["analysis"]))
        for name in DIMENSIONS
    )
    if tier == "full":
        return PresentedVerdict(label, summary, dimensions)
    block = payload["strategy"]
    tests = tuple(clean(test) for test in block["tests"] if isinstance(test, str) and test.strip())
    next_step, alternative = clean(block["next_step"]), clean(block["alternative"])
    return PresentedVerdict(label, summary, dimensions, next_step, alternative, tests)


def strip_control_characters(text: str) -> str:
    """The text without control characters (except newline and tab) and bidirectional overrides."""
    return "".join(
        one
        for one in text
        if one in "\n\t" or (unicodedata.category(one) != "Cc" and one not in _BIDI_CONTROLS)
    )


def defang(verdict: PresentedVerdict) -> PresentedVerdict:
    """The verdict with no text that a mail program would turn into a link; it looks unchanged."""
    return replace(
        verdict,
        summary=defang_text(verdict.summary),
        dimensions=tuple(
            replace(one, analysis=defang_text(one.analysis)) for one in verdict.dimensions
        ),
        next_step=defang_text(verdict.next_step),
        alternative=defang_text(verdict.alternative),
        tests=tuple(map(defang_text, verdict.tests)),
    )


def defang_text(text: str) -> str:
    """The text with a zero-width space after each separator of an address."""
    return _WORD.sub(lambda word: _split(word[0]) if _ADDRESS.search(word[0]) else word[0], text)


def _split(word: str) -> str:
    return _SEPARATOR.sub(rf"\g<0>{_ZERO_WIDTH_SPACE}", word)
