"""Signals in a submission, and the remarks for each.

A signal has the words that reveal it, its weight in the verdict (-1 to 1), and
remarks for a positive and for a negative verdict.
"""

import re
from typing import Final, NamedTuple


class Signal(NamedTuple):
    words: re.Pattern[str]
    weight: float
    friendly: tuple[str, ...]
    critical: tuple[str, ...]


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


SIGNALS: Final = (
    Signal(
        _words(
            "pilot|tested|prototype|paying|pre-?orders?|waiting list|waitlist|revenue|"
            "interviewed|survey(?:ed)?|trial|already (?:have|sell|run)|repeat customers?"
        ),
        0.2,
        (
            "You bring evidence and not only intentions, which few submissions do.",
            "People have already answered with their money or their time; that counts most.",
        ),
        (
            "The evidence you have is real, but it comes from people who were easy to reach.",
            "What you tested is the pleasant half; the half that costs is still untested.",
        ),
    ),
    Signal(
        _words("quit|resign|savings|loan|mortgage|remortgage|debt|borrow(?:ed|ing)?|all[ -]in"),
        -0.2,
        (
            "What you put at stake is bounded, as long as the bound is written down.",
            "The money at risk is yours and the plan says when to stop; that makes it bearable.",
        ),
        (
            "You would give up your ground before you know whether the new one carries.",
            "The stake is paid on the first day and the proof comes on the last.",
        ),
    ),
    Signal(
        _words("tomorrow|next week|immediately|right away|asap|overnight|within days|quickly"),
        -0.1,
        ("The pace is brisk, and the first step is small enough to allow for it.",),
        (
            "The pace leaves no room for the first surprise, and there is always a first one.",
            "It is the calendar that drives this, not the matter itself.",
        ),
    ),
    Signal(
        _words("guaranteed|everyone|everybody|viral|disrupt\\w*|revolution\\w*|easy|obviously"),
        -0.15,
        ("Where you say that everyone wants it, ask ten of them; I expect six to agree.",),
        (
            "Where you are most certain you offer least support.",
            "“Everyone” is not a customer; somebody in particular has to want it first.",
        ),
    ),
    Signal(
        _words(
            "partner|co-?founder|wife|husband|spouse|family|brother|sister|friend|boss|team|"
            "employees|colleagues?|kids|children"
        ),
        0.0,
        ("The people it depends on are in it from the start, which prevents the usual quarrel.",),
        (
            "It depends on people whose agreement you assume and do not report.",
            "Somebody near to you will carry a part of this; their view is not in the text.",
        ),
    ),
    Signal(
        _words("licen[cs]es?|permits?|legal|lawyer|tax(?:es)?|regulat\\w+|contract|visa|insur\\w+"),
        0.0,
        ("You have seen that there are rules to keep, and early enough to plan for them.",),
        ("The rules you mention move at their own speed, and the plan does not wait for them.",),
    ),
)
