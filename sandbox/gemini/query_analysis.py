"""Finds topic, keywords, figures and signals in a submission.

No language model: a few patterns that turn 'Should I quit my job?' into 'the
plan to quit your job', so that a verdict refers to what was submitted.
"""

import re
from dataclasses import dataclass
from typing import Final

from sandbox.gemini.phrases.signals import SIGNALS, Signal

_MAX_TOPIC: Final = 11  # words
_TO: Final = re.compile(
    r"(?:should|shall|can|could|may) (?:i|we) |(?:i|we)(?: would|'d|’d)? (?:really )?"
    r"(?:want|like|plan|intend|hope|need|have decided|decided) to |"
    r"(?:i|we)(?: am|'m|’m| are|'re|’re) (?:planning|going|about|hoping|trying) to |"
    r"(?:my|our|the) (?:idea|plan|goal|aim|dream|intention) is to |(?:i|we)(?: will|'ll|’ll) |"
    r"(?:is|would) it (?:be )?(?:a good idea|wise|smart|sensible|time|right|worth it) to |"
    r"how about we |let us |let's |does it make sense to |is now the time to ",
    re.IGNORECASE,
)
_ING: Final = re.compile(
    r"(?:i|we)(?: am|'m|’m| are|'re|’re) (?:thinking (?:of|about)|considering) |"
    r"what about |how about |(?:my|our|the) (?:idea|plan) is (?=\w+ing\b)|"
    r"(?:is|would) (?=\w+ing\b)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[.!?;:\n(]|, | [–—-] | (?:because|so that|since|although|but|which|who|if|when) ",
    re.IGNORECASE,
)
_SECOND_PERSON: Final = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "we": "you",
    "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves", "am": "are",
}  # fmt: skip
_STOP_WORDS: Final = frozenset(
    "a able about after again all already also an "  # noqa: SIM905 - a word list
    "and any are around as ask at back be "
    "because become been before being best better both build but buy by can change close "
    "could create days do does doing done each even every everybody everyone find fire first "
    "for from full get give going good great grow had has hate have having help here hire how "
    "i'm idea if improve in instead into invest is it it's its join just keep know last later "
    "launch learn leave like little live look lots love make making many maybe me might mine "
    "month months more most move much must my need never new next no nobody not now of off "
    "offer often on one only open or other our out over people plan possible put quit raise "
    "read really replace same save sell send shall should show since small so some soon spend "
    "split start still stop such sure switch take teach tell than that the their them then "
    "there these they thing things think this those through time to today tomorrow too try "
    "turn under until up use used using very via want was way we week weeks well were what "
    "when where whether which while who why will with within without work works would write "
    "year years you your".split()
)
_FIGURE: Final = re.compile(
    r"(?:(?:CA|US)?\$|€|£)\s?\d[\d,.]*\d?\s?(?:k|million|m)?\b|"
    r"\b\d[\d,.]*\s?(?:%|percent\b|days?\b|weeks?\b|months?\b|years?\b|hours?\b|customers\b|"
    r"people\b|users\b|orders\b|clients\b|employees\b|euros?\b|dollars?\b)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    topic: str
    words: tuple[str, ...]  # never empty
    figures: tuple[str, ...]
    signals: tuple[Signal, ...]
    length: int  # in words


def analyze_query(query: str) -> QueryAnalysis:
    flat = " ".join(query.split())
    return QueryAnalysis(
        topic=_topic(flat),
        words=_keywords(flat),
        figures=tuple(dict.fromkeys(found.strip(" .,") for found in _FIGURE.findall(flat)))[:3],
        signals=tuple(signal for signal in SIGNALS if signal.words.search(flat)),
        length=len(_WORD.findall(flat)),
    )


def _topic(flat: str) -> str:
    opening = _TO.match(flat)
    if opening:
        return "the plan to " + _in_second_person(_clipped(flat[opening.end() :]))
    opening = _ING.match(flat)
    if opening:
        return _in_second_person(_clipped(flat[opening.end() :]))
    return f"“{_clipped(flat)}”"


def _clipped(text: str) -> str:
    """The first clause, shortened, not ending in a stop word."""
    first = _CLAUSE.split(text, maxsplit=1)[0].strip(" ,'\"“”…") or text.strip()
    words = first.split()
    if len(words) > _MAX_TOPIC:
        words = words[:_MAX_TOPIC]
        while len(words) > 4 and words[-1].lower().strip(",'’") in _STOP_WORDS:
            words.pop()
    return " ".join(words)[:120].strip(" ,") or "this"


def _in_second_person(text: str) -> str:
    """First person becomes second person: my becomes your."""
    return " ".join(_SECOND_PERSON.get(word.lower(), word) for word in text.split())


def _keywords(flat: str) -> tuple[str, ...]:
    """Up to six keywords, in order of appearance."""
    found = (word.strip("'’-") for word in _WORD.findall(flat))
    keywords = [word for word in found if 4 <= len(word) <= 24 and word.lower() not in _STOP_WORDS]
    # Nouns rather than verbs: 'proof of “nurses”' reads well, 'of “interviewed”' does not.
    things = [word for word in keywords if not word.lower().endswith(("ed", "ing", "ly"))]
    unique = {word.lower(): word for word in things or keywords}
    return tuple(unique.values())[:6] or (_clipped(flat)[:24],)
