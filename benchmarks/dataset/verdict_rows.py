"""What the model was asked and said, and what the gate made of it."""

from collections.abc import Iterator

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from benchmarks.dataset.samples import MODEL, Answer
from benchmarks.dataset.history import (
    MODEL_CALLED,
    REGEN_CALLED,
    COMPARED,
    GATED,
    REGEN_GATED,
    OrderHistory,
    is_delivered,
    is_failed,
    is_regenerated,
    is_rejected,
    level,
    random_hex,
    session_id,
)
from benchmarks.dataset.row_set import Row, RowSet
from verdicts.core.sessions import session_number
from verdicts.models import CachedVerdict, Verdict


def calls(history: OrderHistory) -> list[RowSet]:
    def row(number: int, its: int, after: int) -> Row:
        idea = history.sample(number)
        at, response = history.at(number, after), random_hex("response", its)
        took, tokens = 800 + number * 7_919 % 3_000, 300 + number * 31 % 500
        said = (idea.tier, idea.prompt_sha256, idea.sent, response)
        return its, session_id(number), *said, tokens, took, at

    varying = (
        "id session_id tier prompt_sha256 sent response_id output_tokens duration_ms created_at"
    )
    same = {"model": MODEL, "prompt_tokens": 450, "asked": {"temperature": None, "seed": None}}
    answered = {**same, "outcome": "answered", "finish_reason": "STOP", "model_version": MODEL}
    refused = {**same, "outcome": "refused", "error": "the model refused the request"}
    return [
        RowSet(
            ModelCall,
            varying,
            lambda some: (row(n, n, MODEL_CALLED) for n in some if not is_failed(n)),
            {**answered, "kind": "original"},
        ),
        RowSet(
            ModelCall,
            varying,
            lambda some: (row(n, n, MODEL_CALLED) for n in some if is_failed(n)),
            {**refused, "kind": "original"},
        ),
        RowSet(
            ModelCall,
            varying,
            lambda some: (row(n, n + history.regen_offset, REGEN_CALLED) for n in some if is_regenerated(n)),
            {**answered, "kind": "regen"},
        ),
    ]


def crosschecks(history: OrderHistory) -> list[RowSet]:
    def row(number: int, its: int, answer: Answer, after: int) -> Row:
        found = answer.decision
        terms = (found.crosscheck_reason, found.v_t, found.v_r, found.e_d, answer.contributions)
        decided = (found.coherence_score, found.verdict_label, answer.flags, *terms)
        tier, at = history.sample(number).tier, history.at(number, after)
        return its, session_id(number), tier, its, *decided, at

    varying = "id session_id tier call_id coherence_score verdict_label flags crosscheck_reason"
    varying = f"{varying} v_t v_r e_d contributions created_at"
    threshold = history.samples[0].original.decision.threshold
    original = {"threshold": threshold, "kind": "original"}
    regen = {"threshold": threshold, "kind": "regen"}
    return [
        RowSet(
            CrosscheckLog,
            varying,
            lambda some: (
                row(n, n, history.sample(n).original, GATED) for n in some if is_delivered(n)
            ),
            {**original, "approved": True},
        ),
        RowSet(
            CrosscheckLog,
            f"{varying} evidence",
            lambda some: (
                (*row(n, n, history.sample(n).rejected, GATED), history.sample(n).rejected.payload)
                for n in some
                if is_rejected(n)
            ),
            {**original, "approved": False},
        ),
        RowSet(
            CrosscheckLog,
            varying,
            lambda some: (
                row(n, n + history.regen_offset, _again(history, n), REGEN_GATED)
                for n in some
                if is_regenerated(n)
            ),
            {**regen, "approved": True},
        ),
    ]


def verdicts(history: OrderHistory) -> list[RowSet]:
    def row(number: int, its: int, answer: Answer, after: int) -> Row:
        # The pool's own would be that of thousands.
        at, fingerprint = history.at(number, after), random_hex("text", its)[:12]
        return its, number, answer.label, answer.payload, fingerprint, its, its, at

    varying = "id order_id label payload fingerprint call_id crosscheck_id created_at"
    return [
        RowSet(
            Verdict,
            varying,
            lambda some: (
                row(n, n, history.sample(n).original, GATED) for n in some if is_delivered(n)
            ),
            {"kind": "original"},
        ),
        RowSet(
            Verdict,
            varying,
            lambda some: (
                row(n, n + history.regen_offset, _again(history, n), REGEN_GATED)
                for n in some
                if is_regenerated(n)
            ),
            {"kind": "regen"},
        ),
    ]


def cached(history: OrderHistory) -> list[RowSet]:
    def rows(some: range) -> Iterator[Row]:
        for number in filter(is_delivered, some):
            its, answer, after = number, history.sample(number).original, GATED
            if is_regenerated(number):
                its, answer, after = number + history.regen_offset, _again(history, number), REGEN_GATED
            session, at = session_id(number), history.at(number, after)
            yield session_number(session), session, its, answer.body, answer.etag, at

    varying = "id session_id verdict_id body etag cached_at"
    return [RowSet(CachedVerdict, varying, rows, {"approved": True})]


def divergences(history: OrderHistory) -> list[RowSet]:
    def rows(some: range) -> Iterator[Row]:
        for number in filter(is_regenerated, some):
            idea, again = history.sample(number), _again(history, number)
            labels = (idea.original.label, again.label, level(number))
            its = (number, number + history.regen_offset, session_id(number), idea.tier)
            yield *its, *labels, history.at(number, COMPARED)

    varying = "id crosscheck_id session_id tier original_verdict regen_verdict level created_at"
    same = {"original_source": "verdict", "skipped": False, "same_inputs": True, "latency_ms": 30}
    return [RowSet(DivergenceEvent, varying, rows, {**same, "causes": ["infrastructure"]})]


def _again(history: OrderHistory, number: int) -> Answer:
    return history.sample(number).regens[level(number)]
