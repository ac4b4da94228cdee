"""An approved verdict as people read it: the tier's fields, in order, text only.

Pure: no I/O, no clock, no Django. Page and email both show this. What the tier
did not promise is left out, and so is anything that is not text.

Policy
- Characters that steer instead of being read are left out: control characters but
  newline and tab, and those that turn the direction of what follows. A model can be
  talked into writing them, and nobody is owed them.
- In an email nothing looks like an address: mail programs make a link of whatever
  does, and a link in our email would have our word behind it. The text stays the same
  to the eye.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Final

from audit.core.vocabulary import DIMENSIONS, TierName

_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A scheme, a domain or an at sign in a word; dots of other scripts count for browsers, too. Each
# part is of a fixed length: what a model can be talked into must not cost more than its length.
_DOTS: Final = ".\u3002\uff0e\uff61"
_WORD: Final = re.compile(r"\S+")
_ADDRESS: Final = re.compile(
    rf"[^\W\d_]{{2}}:\S|@|\\\\|www[{_DOTS}]|[\w-][{_DOTS}][^\W\d_]{{2}}", re.IGNORECASE
)
_JOINT: Final = re.compile(rf"[{_DOTS}:/@\\]")
_NOTHING: Final = "\u200b"  # a blank of no width


@dataclass(frozen=True, slots=True)
class ReadableDimension:
    name: str
    label: str
    analysis: str


@dataclass(frozen=True, slots=True)
class Readable:
    label: str
    summary: str
    dimensions: tuple[ReadableDimension, ...] = ()
    next_step: str = ""
    alternative: str = ""
    tests: tuple[str, ...] = ()


def readable(tier: TierName, payload: dict[str, Any]) -> Readable:
    """`payload` must have passed the gate for `tier`: every required field is there."""
    label, summary = payload["verdict"], shown(payload["summary"])
    # A new tier needs its own branch if it shows other fields.
    if tier == "quick":
        return Readable(label, summary)
    breakdown = payload["breakdown"]
    dimensions = tuple(
        ReadableDimension(name, breakdown[name]["verdict"], shown(breakdown[name]["analysis"]))
        for name in DIMENSIONS
    )
    if tier == "full":
        return Readable(label, summary, dimensions)
    block = payload["strategy"]
    tests = tuple(shown(test) for test in block["tests"] if isinstance(test, str) and test.strip())
    next_step, alternative = shown(block["next_step"]), shown(block["alternative"])
    return Readable(label, summary, dimensions, next_step, alternative, tests)


def shown(text: str) -> str:
    """The text without what steers terminals, mail programs and the direction of reading."""
    return "".join(
        one
        for one in text
        if one in "\n\t" or (unicodedata.category(one) != "Cc" and one not in _TURNING)
    )


def without_links(reading: Readable) -> Readable:
    """The same to the eye, with nothing in it that a mail program takes for an address."""
    return replace(
        reading,
        summary=unlinked(reading.summary),
        dimensions=tuple(
            replace(one, analysis=unlinked(one.analysis)) for one in reading.dimensions
        ),
        next_step=unlinked(reading.next_step),
        alternative=unlinked(reading.alternative),
        tests=tuple(map(unlinked, reading.tests)),
    )


def unlinked(text: str) -> str:
    return _WORD.sub(lambda word: _parted(word[0]) if _ADDRESS.search(word[0]) else word[0], text)


def _parted(word: str) -> str:
    return _JOINT.sub(rf"\g<0>{_NOTHING}", word)
