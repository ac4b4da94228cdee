"""A score taken apart, as docs/GATE.md specifies it: every entry, the three terms, the formula."""

from dataclasses import dataclass
from typing import Any, Final

from audit.core.tmm import MINIMUM_V_T, PHI
from audit.models import CrosscheckLog

_MEANING: Final = {
    "V_t": "evidence: what is there, added up",
    "V_r": "inconsistencies, added up",
    "E_D": "structural fault: the worst one counts",
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
    verdict: str


def take_apart(check: CrosscheckLog) -> Score | None:
    """None: the gate itself failed, and there is no score."""
    if check.v_t is None or check.v_r is None or check.e_d is None:
        return None
    if check.coherence_score is None:
        return None
    terms = []
    for name, total in (("V_t", check.v_t), ("V_r", check.v_r), ("E_D", check.e_d)):
        entries = [one for one in check.contributions if one["term"] == name]
        floor = name == "V_t" and sum(one["amount"] for one in entries) < MINIMUM_V_T
        note = f"never less than {MINIMUM_V_T}" if floor else ""
        terms.append(Term(name, _MEANING[name], total, entries, note))
    return Score(terms, _formula(check), _verdict(check))


def _formula(check: CrosscheckLog) -> str:
    top = f"(E_D {check.e_d} + V_r {check.v_r} × Φ {PHI})"
    return f"C = 1 − {top} / V_t {check.v_t} = {check.coherence_score:.4f}"


def _verdict(check: CrosscheckLog) -> str:
    score = check.coherence_score or 0.0
    if score < 0:
        return "C is below zero: rejected, whatever Ω is"
    sign = "≥" if score >= check.threshold else "<"
    then = "approved" if check.approved else "rejected"
    return f"{score:.4f} {sign} Ω {check.threshold:.5f}: {then}"
