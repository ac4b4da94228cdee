"""Extracts the state of each field of a verdict, for the gate to score.

Pure: no I/O, no clock, no Django. A Reading has, for each field that the tier
requires, whether it is missing, empty or present (C2, C4), and whether the
dimensions' labels conflict with the verdict's (C5). It contains none of the model's
text, so it is small and hashable, and there are few distinct ones.

Policy
- missing: key absent, null or of the wrong type; a label that is not one of
  the four. empty: a string that is blank after strip.
- Fields that the tier does not require are not read (C10). Only their presence is
  reported, because the caller must check that a database can store them.
"""

from typing import Any, Final, Literal, NamedTuple

from audit.core.vocabulary import DIMENSIONS, LABELS

State = Literal["missing", "empty", "present"]
SummaryState = Literal["missing", "empty", "short", "present"]
# With a valid label: `present` (has an analysis), `empty` (the analysis is blank),
# `unanalysed` (it is missing). Without: `unlabelled`, or `bare` if the analysis is missing,
# too. `missing`: not an object.
DimensionState = Literal["missing", "bare", "unlabelled", "unanalysed", "empty", "present"]

MIN_SUMMARY_LENGTH: Final = 10
MIN_TESTS: Final = 2
MAX_TESTS: Final = 3  # more do not raise the score (C8)
_MAX_TESTS_READ: Final = 100

_LABELS: Final = frozenset(LABELS)
_BENIGN: Final = frozenset({"GREEN", "AMBER"})


class Strategy(NamedTuple):
    """The strategy block, for the tier that includes one."""

    is_present: bool  # a non-empty object
    next_step: State
    alternative: State
    tests: int | None  # None: not a list; at most MAX_TESTS


class Reading(NamedTuple):
    label: str | None
    summary: SummaryState
    dimensions: tuple[DimensionState, ...] = ()  # in the order of DIMENSIONS; none for quick
    conflicting_label: str | None = None  # of most dimensions, against the verdict's (C5, C6)
    contradictory_null: bool = False  # NULL, though every dimension's label is GREEN or AMBER
    strategy: Strategy | None = None  # None: the tier includes none


_NO_DIMENSION: Final[tuple[DimensionState, ...]] = tuple("missing" for _ in DIMENSIONS)
_NO_STRATEGY: Final = Strategy(False, "missing", "missing", None)


def read(payload: dict[str, Any], tier: str) -> tuple[Reading, list[str] | None]:
    """The state of the fields that `tier` requires, and the free text of those fields.

    The text is None if the payload has unrecognised content: another field, or a value
    of the wrong type.
    """
    texts: list[str] = []
    labels: list[str] = []
    size = len(payload)  # number of values found in all containers read
    label = payload.get("verdict")
    if type(label) is not str or label not in _LABELS:
        label = None
        size += 1  # unrecognised
    summary = _summary(payload.get("summary"), texts)
    dimensions: tuple[DimensionState, ...] = ()
    strategy = None
    # A new tier: the gate requires the fields that are read for it here.
    if tier != "quick":
        dimensions, more = _dimensions(payload.get("breakdown"), texts, labels)
        size += more
    if tier == "strategy":
        strategy, more = _strategy(payload.get("strategy"), texts)
        size += more
    contradictory = label == "NULL" and bool(labels) and _BENIGN.issuperset(labels)
    fields = (label, summary, dimensions, _conflict(label, labels), contradictory, strategy)
    reading = tuple.__new__(Reading, fields)  # three times as fast as Reading(*fields)
    return reading, texts if size == 1 + len(texts) + len(labels) else None


def _text(value: object, texts: list[str]) -> State:
    if type(value) is not str:
        return "missing"
    texts.append(value)
    return "present" if value and not value.isspace() else "empty"


def _summary(value: object, texts: list[str]) -> SummaryState:
    if type(value) is not str:
        return "missing"
    texts.append(value)
    length = len(value.strip())
    return "present" if length >= MIN_SUMMARY_LENGTH else "short" if length else "empty"


def _dimensions(
    breakdown: object, texts: list[str], labels: list[str]
) -> tuple[tuple[DimensionState, ...], int]:
    """Each dimension's state, and the number of values found besides the dimensions themselves."""
    if type(breakdown) is not dict:
        return _NO_DIMENSION, 0
    size = len(breakdown) - 1
    states: list[DimensionState] = []
    for name in DIMENSIONS:
        entry = breakdown.get(name)
        if type(entry) is not dict:
            states.append("missing")
            continue
        size += len(entry) - 1
        label = entry.get("verdict")
        labelled = False
        if type(label) is str and label in _LABELS:
            labelled = True
            labels.append(label)
        analysis = entry.get("analysis")
        if type(analysis) is not str:
            states.append("unanalysed" if labelled else "bare")
            continue
        texts.append(analysis)
        if not labelled:
            states.append("unlabelled")
        else:
            states.append("present" if analysis and not analysis.isspace() else "empty")
    return tuple(states), size


def _conflict(label: str | None, labels: list[str]) -> str | None:
    """The label of more than half of the labelled dimensions, if it is not the verdict's."""
    half = len(labels) / 2
    if label is None or label == "NULL" or labels.count(label) >= half:
        return None
    for other in LABELS:
        if labels.count(other) > half:
            return other
    return None


def _strategy(block: object, texts: list[str]) -> tuple[Strategy, int]:
    """The block's state, and the number of values found besides the list of tests."""
    if type(block) is not dict or not block:
        return _NO_STRATEGY, 0
    size = len(block) - 1
    tests = block.get("tests")
    counted = None
    if type(tests) is list:
        # A longer list counts as unrecognised, so that the caller walks the whole payload.
        size += len(tests) - 1 if len(tests) <= _MAX_TESTS_READ else len(tests)
        states = [_text(test, texts) for test in tests]
        counted = min(states.count("present"), MAX_TESTS)
    next_step = _text(block.get("next_step"), texts)
    alternative = _text(block.get("alternative"), texts)
    return Strategy(True, next_step, alternative, counted), size
