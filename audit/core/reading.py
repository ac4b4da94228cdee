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

from audit.core.vocabulary import DIMENSIONS, LABELS

State = Literal["missing", "empty", "present"]
SummaryState = Literal["missing", "empty", "short", "present"]
# Of a dimension. With a valid label: `present` (analysed), `empty` (the analysis
# is blank), `unanalysed` (it is missing). Without: `unlabelled`, or `bare` if the
# analysis is missing too. `missing`: no object at all.
DimensionState = Literal["missing", "bare", "unlabelled", "unanalysed", "empty", "present"]

SHORTEST_SUMMARY: Final = 10
MIN_TESTS: Final = 2
# C8: more tests than these add nothing.
MAX_TESTS: Final = 3
MAX_READ: Final = 100

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
    opposed: str | None = None  # what most dimensions say against the label (C5, C6)
    contradicted: bool = False  # NULL, though every dimension's label is GREEN or AMBER
    strategy: Strategy | None = None  # None where the tier promises none


_NO_DIMENSION: Final[tuple[DimensionState, ...]] = tuple("missing" for _ in DIMENSIONS)
_NO_STRATEGY: Final = Strategy(False, "missing", "missing", None)


def read(payload: dict[str, Any], tier: str) -> tuple[Reading, list[str] | None]:
    """What `payload` has of the fields that `tier` requires, and all of its free text.

    The text is None where there is more to the payload than was recognised:
    another field, or a value of another type than its field has.
    """
    texts: list[str] = []
    labels: list[str] = []
    size = len(payload)  # how many values there are in all that was opened
    label = payload.get("verdict")
    if type(label) is not str or label not in _LABELS:
        label = None
        size += 1  # not recognised, whatever it is
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
    contradicted = label == "NULL" and bool(labels) and _BENIGN.issuperset(labels)
    fields = (label, summary, dimensions, _opposed(label, labels), contradicted, strategy)
    reading = tuple.__new__(Reading, fields)  # Reading(*fields), at a third of its price
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
    return "present" if length >= SHORTEST_SUMMARY else "short" if length else "empty"


def _dimensions(
    breakdown: object, texts: list[str], labels: list[str]
) -> tuple[tuple[DimensionState, ...], int]:
    """Each dimension's state, and how many values beside objects were in all that was opened."""
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


def _opposed(label: str | None, labels: list[str]) -> str | None:
    """The label that more than half of the labelled dimensions hold, if it is another."""
    half = len(labels) / 2
    if label is None or label == "NULL" or labels.count(label) >= half:
        return None
    for other in LABELS:
        if labels.count(other) > half:
            return other
    return None


def _strategy(block: object, texts: list[str]) -> tuple[Strategy, int]:
    """The block's state, and how many values beside lists were in all that was opened."""
    if type(block) is not dict or not block:
        return _NO_STRATEGY, 0
    size = len(block) - 1
    tests = block.get("tests")
    counted = None
    if type(tests) is list:
        # More than anybody asked for are looked through with everything else.
        size += len(tests) - 1 if len(tests) <= MAX_READ else len(tests)
        states = [_text(test, texts) for test in tests]
        counted = min(states.count("present"), MAX_TESTS)
    next_step = _text(block.get("next_step"), texts)
    alternative = _text(block.get("alternative"), texts)
    return Strategy(True, next_step, alternative, counted), size
