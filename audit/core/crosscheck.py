"""The gate: may this output be delivered?

Pure: no I/O, no clock, no Django. Reads the output (`parsing`, `reading`),
weighs what it found and returns a Decision. The caller's duties: store and
deliver nothing that is not `approved`, and record every Decision, approved or
not. docs/GATE.md specifies the mapping with worked examples.

Policy (C1-C18 of the resolutions)
- V_t sums the evidence, V_r the inconsistencies; E_D is the worst structural
  fault, never a sum (C3).
- A negative C is a hard fail and is never compared with the threshold (C9).
- The reason names the cause: a missing field, then a degenerate manifold,
  then a conflict of dimensions, then low coherence.
- An exception in here fails closed as `gate_error`, without a score (C16).

The weight of a verdict depends on its Reading alone, so equal readings share
one Decision: in practice a complete verdict costs its reading and a look-up.
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
    """One entry of the sum: which term, what was found, where, and how much it weighs.

    The amounts of V_t and V_r add up to the term; of E_D's the largest counts.
    """

    term: Term
    what: str
    where: str
    amount: float
    flag: Flag | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate decided, with every figure that led there.

    The score and its parts are None only for `gate_error`: `error` then says
    what went wrong inside the gate, without any of the model's text.
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
        """The document's object, key by key, then the three terms; ready for JSON."""
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
    """Decide on a model's output: its text, or the object parsed from it.

    Raises nothing: what goes wrong in here is a decision too, and not an approval.
    """
    try:
        _require_known_tier(tier)
        payload = parse_any_depth(output)
        if payload is None:
            return _weigh(None)
        reading, texts = read(payload, tier)
        # Looking through everything costs more than reading, so it is kept for
        # payloads with something in them that the reading did not account for:
        # only these can be nested deeper than a verdict.
        if texts is None:
            clean = is_storable(payload)
        else:
            clean = (isinstance(output, str) and is_clean_without_escapes(output)) or is_clean(
                texts
            )
        return _weigh(reading if clean else None)
    except Exception as exc:  # noqa: BLE001 - whatever it is, it fails closed (C16)
        return _gate_error(exc)


def _require_known_tier(tier: str) -> None:
    if tier not in TIERS:
        raise ValueError(f"unknown tier {tier!r}")


@lru_cache(maxsize=1024)
def _weigh(reading: Reading | None) -> Decision:
    """The Decision on a reading; None is output that could not be read."""
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
    yield from _of_summary(reading)
    yield from _of_breakdown(reading)
    if reading.strategy:
        yield from _of_strategy(reading.strategy)


def _missing(where: str) -> Contribution:
    return Contribution("E_D", "missing", where, _FIELD_MISSING, "field_missing")


def _of_summary(reading: Reading) -> Iterator[Contribution]:
    if reading.summary in ("short", "present"):
        yield Contribution("V_t", "text", "summary", 1.0)
    if reading.summary != "present":
        yield Contribution("V_r", _SHORT, "summary", 1.0, "short_summary")
    if reading.summary == "missing":
        yield _missing("summary")


def _of_breakdown(reading: Reading) -> Iterator[Contribution]:
    for name, state in zip(DIMENSIONS, reading.dimensions, strict=False):  # none for quick
        where = f"breakdown.{name}"
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
    if reading.contradicted:
        what = "NULL over dimensions that are all GREEN or AMBER"
        yield Contribution("V_r", what, "breakdown", 1.5, "contradictory_null")
    if reading.opposed:
        what = f"most dimensions are {reading.opposed}, the verdict is {reading.label}"
        yield Contribution("V_r", what, "breakdown", 2.0, "dimension_conflict")


def _of_strategy(strategy: Strategy) -> Iterator[Contribution]:
    if strategy.there:
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
                # C14: worth telling staff, without a weight of its own.
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
    place = f"{traceback.tb_frame.f_code.co_name}:{traceback.tb_lineno}" if traceback else "?"
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
        error=f"{type(exc).__name__} in {place}",
    )
