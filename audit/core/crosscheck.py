"""The gate: decides whether a model's output may be delivered.

Pure: no I/O, no clock, no Django. Parses the output (`parsing`), extracts the
state of its fields (`reading`), scores them and returns a Decision. The caller
must store and deliver nothing that is not `approved`, and record every Decision.
docs/GATE.md specifies the mapping with worked examples.

Policy (C1-C18 of the resolutions)
- V_t sums the evidence, V_r the inconsistencies; E_D is the worst structural
  fault, not a sum (C3).
- A negative C always fails and is never compared with the threshold (C9).
- The reason is the first that applies: missing field, degenerate manifold,
  dimension conflict, low coherence.
- An exception inside the gate fails closed as `gate_error`, without a score (C16).

The score is a sum of weights and depends on the Reading alone, so decisions are memoised by
Reading.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from audit.core.parsing import is_clean, is_clean_without_escapes, is_storable, parse_any_depth
from audit.core.reading import (
    MAX_TESTS,
    MIN_SUMMARY_LENGTH,
    MIN_TESTS,
    DimensionState,
    Reading,
    Strategy,
    read,
)
from audit.core.tmm import MINIMUM_V_T, OMEGA, coherence
from audit.core.vocabulary import DIMENSIONS, TIERS, UNKNOWN

Term = Literal["V_t", "V_r", "E_D"]
Flag = Literal[
    "contradictory_null",
    "degenerate_manifold",
    "dimension_conflict",
    "empty_analysis",
    "empty_strategy_field",
    "field_missing",
    "malformed_json",
    "short_summary",
    "strategy_missing",
    "too_few_tests",
]
Reason = Literal[
    "pass",
    "field_missing",
    "degenerate_manifold",
    "dimension_conflict",
    "low_coherence",
    "gate_error",
]

_SHORT: Final = f"empty or under {MIN_SUMMARY_LENGTH} characters"
_MALFORMED: Final = 2.0
_NO_LABEL: Final = 1.0
_FIELD_MISSING: Final = 0.5


class Contribution(NamedTuple):
    """One finding: the term it contributes to, what and where it is, and its amount.

    The amounts of V_t and V_r are summed; of E_D only the largest counts.
    """

    term: Term
    what: str
    where: str
    amount: float
    flag: Flag | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate decided, with every number that led there.

    The score and its terms are None only for `gate_error`; `error` then has the
    exception's type and place, without any of the model's text.
    """

    approved: bool
    coherence_score: float | None
    threshold: float
    verdict_label: str
    flags: tuple[Flag, ...]
    crosscheck_reason: Reason
    v_t: float | None
    v_r: float | None
    e_d: float | None
    contributions: tuple[Contribution, ...]
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The requirement document's keys in its order, then the three terms; ready for JSON."""
        return {
            "approved": self.approved,
            "coherence_score": self.coherence_score,
            "threshold": self.threshold,
            "verdict_label": self.verdict_label,
            "flags": list(self.flags),
            "crosscheck_reason": self.crosscheck_reason,
            "v_t": self.v_t,
            "v_r": self.v_r,
            "e_d": self.e_d,
        }


def crosscheck(output: object, tier: str) -> Decision:
    """The decision on a model's output: its text, or the object parsed from it.

    Never raises: any exception is a rejection with the reason `gate_error`.
    """
    try:
        _require_known_tier(tier)
        payload = parse_any_depth(output)
        if payload is None:
            return _weigh(None)
        reading, texts = read(payload, tier)
        # Walking the whole payload costs more than reading it, so only payloads with content
        # that the reading did not recognise are walked: only these can be too deep.
        if texts is None:
            clean = is_storable(payload)
        else:
            clean = (isinstance(output, str) and is_clean_without_escapes(output)) or is_clean(
                texts
            )
        return _weigh(reading if clean else None)
    except Exception as exc:  # noqa: BLE001 - any error fails closed (C16)
        return _gate_error(exc)


def _require_known_tier(tier: str) -> None:
    if tier not in TIERS:
        raise ValueError(f"unknown tier {tier!r}")


@lru_cache(maxsize=1024)
def _weigh(reading: Reading | None) -> Decision:
    """The Decision on a reading; None: the output is malformed."""
    found = tuple(_contributions(reading))
    v_t = max(MINIMUM_V_T, sum(c.amount for c in found if c.term == "V_t"))
    v_r = sum((c.amount for c in found if c.term == "V_r"), 0.0)
    e_d = max((c.amount for c in found if c.term == "E_D"), default=0.0)
    score = coherence(v_t=v_t, v_r=v_r, e_d=e_d)
    flags = {c.flag for c in found if c.flag}
    if score < 0:
        flags.add("degenerate_manifold")
    reason = _reason(score, e_d, flags)
    return Decision(
        approved=reason == "pass",
        coherence_score=score,
        threshold=OMEGA,
        verdict_label=(reading and reading.label) or UNKNOWN,
        flags=tuple(sorted(flags)),
        crosscheck_reason=reason,
        v_t=v_t,
        v_r=v_r,
        e_d=e_d,
        contributions=found,
    )


def _reason(score: float, e_d: float, flags: set[Flag]) -> Reason:
    if score < 0:  # never compared with the threshold (C9)
        return "degenerate_manifold" if e_d in (0, _MALFORMED) else "field_missing"
    if score >= OMEGA:
        return "pass"
    if e_d:
        return "field_missing"
    return "dimension_conflict" if "dimension_conflict" in flags else "low_coherence"


def _contributions(reading: Reading | None) -> Iterator[Contribution]:
    if reading is None:
        yield Contribution("E_D", "not a JSON object", "output", _MALFORMED, "malformed_json")
        return
    if reading.label:
        yield Contribution("V_t", "a valid label", "verdict", 1.0)
    else:
        yield Contribution("E_D", "no valid label", "verdict", _NO_LABEL, "field_missing")
    yield from _summary(reading)
    yield from _breakdown(reading)
    if reading.strategy:
        yield from _strategy(reading.strategy)


def _missing(where: str) -> Contribution:
    return Contribution("E_D", "missing", where, _FIELD_MISSING, "field_missing")


def _summary(reading: Reading) -> Iterator[Contribution]:
    if reading.summary in ("short", "present"):
        yield Contribution("V_t", "text", "summary", 1.0)
    if reading.summary != "present":
        yield Contribution("V_r", _SHORT, "summary", 1.0, "short_summary")
    if reading.summary == "missing":
        yield _missing("summary")


def _breakdown(reading: Reading) -> Iterator[Contribution]:
    for name, state in zip(DIMENSIONS, reading.dimensions, strict=False):  # none for quick
        yield from _dimension(f"breakdown.{name}", state)
    if reading.contradictory_null:
        what = "NULL over dimensions that are all GREEN or AMBER"
        yield Contribution("V_r", what, "breakdown", 1.5, "contradictory_null")
    if reading.conflicting_label:
        what = f"most dimensions are {reading.conflicting_label}, the verdict is {reading.label}"
        yield Contribution("V_r", what, "breakdown", 2.0, "dimension_conflict")


def _dimension(where: str, state: DimensionState) -> Iterator[Contribution]:
    if state == "present":
        yield Contribution("V_t", "label and analysis", where, 1.0)
    if state in ("empty", "unanalysed"):
        yield Contribution("V_r", "no analysis", f"{where}.analysis", 0.5, "empty_analysis")
    if state == "missing":
        yield _missing(where)
    if state in ("bare", "unlabelled"):
        yield _missing(f"{where}.verdict")
    if state in ("bare", "unanalysed"):
        yield _missing(f"{where}.analysis")


def _strategy(strategy: Strategy) -> Iterator[Contribution]:
    if strategy.is_present:
        yield Contribution("V_t", "a block of its own", "strategy", 1.0)
        for name, state in (
            ("next_step", strategy.next_step),
            ("alternative", strategy.alternative),
        ):
            where = f"strategy.{name}"
            if state == "present":
                yield Contribution("V_t", "text", where, 1.0)
            elif state == "missing":
                yield _missing(where)
            else:
                # C14: flagged for staff, but it does not count.
                yield Contribution("V_r", "empty", where, 0.0, "empty_strategy_field")
        if strategy.tests is None:
            yield _missing("strategy.tests")
        elif strategy.tests:
            what = f"{strategy.tests} counted, at most {MAX_TESTS}"
            yield Contribution("V_t", what, "strategy.tests", 0.5 * strategy.tests)
    else:
        yield Contribution("V_r", "no strategy block", "strategy", 2.0, "strategy_missing")
        yield _missing("strategy")
    if (strategy.tests or 0) < MIN_TESTS:
        what = f"fewer than {MIN_TESTS}"
        yield Contribution("V_r", what, "strategy.tests", 1.0, "too_few_tests")


def _gate_error(exc: Exception) -> Decision:
    traceback = exc.__traceback__
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    location = f"{traceback.tb_frame.f_code.co_name}:{traceback.tb_lineno}" if traceback else "?"
    return Decision(
        approved=False,
        coherence_score=None,
        threshold=OMEGA,
        verdict_label=UNKNOWN,
        flags=(),
        crosscheck_reason="gate_error",
        v_t=None,
        v_r=None,
        e_d=None,
        contributions=(),
        error=f"{type(exc).__name__} in {location}",
    )
