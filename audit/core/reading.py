"""What is there in a verdict, field by field, before anybody weighs it.

Pure: no I/O, no clock, no Django. A Reading says of each field that the tier
requires whether it is missing, empty or present (C2, C4) and what the
dimensions' labels amount to (C5). It holds none of the model's text, so it is
small, hashable, and one of few: verdicts that are alike read alike.

Policy
- missing: key absent, null or of the wrong type; a label that is not one of
  the four. empty: a string that is blank after strip.
- Fields that the tier does not ask for are not read (C10). They are only
  noticed, because the caller has to see that a database can hold them.
"""

from typing import Any, Final, Literal, NamedTuple

from audit.core.vocabulary import DIMENSIONS, LABELS, TIERS

State = Literal["missing", "empty", "present"]
SummaryState = Literal["missing", "empty", "short", "present"]
# Of a dimension. With a valid label: `present` (analysed), `empty` (the analysis
# is blank), `unanalysed` (it is missing). Without: `unlabelled`, or `bare` if the
# analysis is missing too. `missing`: no object at all.
DimensionState = Literal["missing", "bare", "unlabelled", "unanalysed", "empty", "present"]

SHORTEST_SUMMARY: Final = 10
FEWEST_TESTS: Final = 2
# C8: more tests than these add nothing.
MOST_TESTS: Final = 3

_LABELS: Final = frozenset(LABELS)
_BENIGN: Final = frozenset({"GREEN", "AMBER"})


class Strategy(NamedTuple):
    """The strategy block of the tier that promises one."""

    there: bool  # a non-empty object
    next_step: State
    alternative: State
    tests: int | None  # None: no list; at most MOST_TESTS


class Reading(NamedTuple):
    label: str | None
    summary: SummaryState
    dimensions: tuple[DimensionState, ...] = ()  # in the order of DIMENSIONS; none for quick
    majority: str | None = None
    contradicted: bool = False  # NULL, though every dimension's label is GREEN or AMBER
    strategy: Strategy | None = None  # None where the tier promises none


_NO_DIMENSION: Final[tuple[DimensionState, ...]] = tuple("missing" for _ in DIMENSIONS)
_NO_STRATEGY: Final = Strategy(False, "missing", "missing", None)


class Seen:
    """Account of what was recognised while reading, so that the rest can be told.

    `unread` counts the values in every object that was opened, less those that
    were recognised: 0 means that `texts` is all there is beside valid labels.
    """

    __slots__ = ("texts", "unread")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.unread = 0


def read(payload: dict[str, Any], tier: str, seen: Seen) -> Reading:
    """The fields of `payload` that `tier` requires, entered in `seen`."""
    if tier not in TIERS:
        raise ValueError(f"unknown tier {tier!r}; one of {', '.join(TIERS)}")
    seen.unread = len(payload)
    label = payload.get("verdict")
    if type(label) is str and label in _LABELS:
        seen.unread -= 1
    else:
        label = None
    summary = _summary(payload.get("summary"), seen)
    if tier == "quick":
        return Reading(label, summary)
    dimensions, labels = _dimensions(payload.get("breakdown"), seen)
    return Reading(
        label,
        summary,
        dimensions,
        _majority(labels),
        label == "NULL" and bool(labels) and _BENIGN.issuperset(labels),
        _strategy(payload.get("strategy"), seen) if tier == "strategy" else None,
    )


def _text(value: object, seen: Seen) -> State:
    if type(value) is not str:
        return "missing"
    seen.unread -= 1
    seen.texts.append(value)
    return "present" if value and not value.isspace() else "empty"


def _summary(value: object, seen: Seen) -> SummaryState:
    state = _text(value, seen)
    if state == "present" and isinstance(value, str) and len(value.strip()) < SHORTEST_SUMMARY:
        return "short"
    return state


def _dimensions(breakdown: object, seen: Seen) -> tuple[tuple[DimensionState, ...], list[str]]:
    """Each dimension's state, and the valid labels among them."""
    if type(breakdown) is not dict:
        return _NO_DIMENSION, []
    states: list[DimensionState] = []
    labels: list[str] = []
    unread = len(breakdown) - 1
    for name in DIMENSIONS:
        entry = breakdown.get(name)
        if type(entry) is not dict:
            states.append("missing")
            continue
        unread += len(entry) - 1
        analysis = _text(entry.get("analysis"), seen)
        label = entry.get("verdict")
        if type(label) is str and label in _LABELS:
            unread -= 1
            labels.append(label)
            states.append("unanalysed" if analysis == "missing" else analysis)
        else:
            states.append("bare" if analysis == "missing" else "unlabelled")
    seen.unread += unread
    return tuple(states), labels


def _majority(labels: list[str]) -> str | None:
    """The label that more than half of the labelled dimensions hold (C5)."""
    if not labels:
        return None
    middle = sorted(labels)[len(labels) // 2]  # a majority always covers the middle
    return middle if labels.count(middle) * 2 > len(labels) else None


def _strategy(block: object, seen: Seen) -> Strategy:
    if type(block) is not dict or not block:
        return _NO_STRATEGY
    seen.unread += len(block) - 1
    tests = block.get("tests")
    counted = None
    if type(tests) is list:
        seen.unread += len(tests) - 1
        states = [_text(test, seen) for test in tests]
        counted = min(states.count("present"), MOST_TESTS)
    return Strategy(
        True,
        _text(block.get("next_step"), seen),
        _text(block.get("alternative"), seen),
        counted,
    )
