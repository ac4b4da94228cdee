"""How a score came about, as docs/GATE.md specifies it: entries, terms and formula."""

from dataclasses import dataclass
from typing import Any, Final

from audit.core.tmm import MINIMUM_V_T, PHI
from audit.models import CrosscheckLog
from verdicts.core.formatting import format_score

_MEANING: Final = {
    "V_t": "evidence that is present, summed",
    "V_r": "inconsistencies, summed",
    "E_D": "structural fault: the worst counts",
}


@dataclass(frozen=True, slots=True)
class Term:
    name: str
    meaning: str
    total: float
    entries: list[dict[str, Any]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    terms: list[Term]
    formula: str
    comparison: str  # of the score with the threshold


def explain_score(check: CrosscheckLog) -> Score | None:
    """None if the gate itself failed: then there is no score."""
    if check.v_t is None or check.v_r is None or check.e_d is None:
        return None
    score = check.coherence_score
    if score is None:
        return None
    terms = []
    for name, total in (("V_t", check.v_t), ("V_r", check.v_r), ("E_D", check.e_d)):
        entries = [entry for entry in check.contributions if entry["term"] == name]
        is_raised = name == "V_t" and sum(entry["amount"] for entry in entries) < MINIMUM_V_T
        note = f"minimum {MINIMUM_V_T}" if is_raised else ""
        terms.append(Term(name, _MEANING[name], total, entries, note))
    return Score(terms, _formula(check, score), _comparison(check, score))


def _formula(check: CrosscheckLog, score: float) -> str:
    top = f"(E_D {check.e_d} + V_r {check.v_r} × Φ {PHI})"
    return f"C = 1 − {top} / V_t {check.v_t} = {format_score(score)}"


def _comparison(check: CrosscheckLog, score: float) -> str:
    if score < 0:
        return "C is negative: always rejected"
    sign = "≥" if score >= check.threshold else "<"
    decision = "approved" if check.approved else "rejected"
    return f"{format_score(score)} {sign} Ω {check.threshold:.5f}: {decision}"
