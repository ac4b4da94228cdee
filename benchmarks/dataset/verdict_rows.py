"""Rows of model calls, crosschecks, verdicts, cached responses and divergences."""

from collections.abc import Iterator
from itertools import starmap

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from benchmarks.dataset.history import (
    COMPARED,
    GATED,
    MODEL_CALLED,
    REGEN_CALLED,
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
from benchmarks.dataset.samples import MODEL, SampleVerdict
from verdicts.core.sessions import session_number
from verdicts.models import CachedVerdict, Verdict

GatedVerdict = tuple[int, int, SampleVerdict, int]  # order number, row id, verdict, seconds after


def calls(history: OrderHistory) -> list[RowSet]:
    def row(number: int, row_id: int, after: int) -> Row:
        sample = history.sample(number)
        at, response_id = history.at(number, after), random_hex("response", row_id)
        duration_ms, tokens = 800 + number * 7_919 % 3_000, 300 + number * 31 % 500
        request = (sample.tier, sample.prompt_sha256, sample.request_config)
        return row_id, session_id(number), *request, response_id, tokens, duration_ms, at

    varying = (
        "id session_id tier prompt_sha256 sent response_id output_tokens duration_ms created_at"
    )
    fixed = {"model": MODEL, "prompt_tokens": 450, "asked": {"temperature": None, "seed": None}}
    answered = {**fixed, "outcome": "answered", "finish_reason": "STOP", "model_version": MODEL}
    refused = {**fixed, "outcome": "refused", "error": "the model refused the request"}
    return [
        RowSet(
            ModelCall,
            varying,
            lambda numbers: (row(n, n, MODEL_CALLED) for n in numbers if not is_failed(n)),
            {**answered, "kind": "original"},
        ),
        RowSet(
            ModelCall,
            varying,
            lambda numbers: (row(n, n, MODEL_CALLED) for n in numbers if is_failed(n)),
            {**refused, "kind": "original"},
        ),
        RowSet(
            ModelCall,
            varying,
            lambda numbers: (
                row(n, n + history.regen_offset, REGEN_CALLED) for n in numbers if is_regenerated(n)
            ),
            {**answered, "kind": "regen"},
        ),
    ]


def crosschecks(history: OrderHistory) -> list[RowSet]:
    def row(number: int, row_id: int, verdict: SampleVerdict, after: int) -> Row:
        decision = verdict.decision
        result = (decision.coherence_score, decision.verdict_label, verdict.flags)
        terms = (decision.crosscheck_reason, decision.v_t, decision.v_r, decision.e_d)
        tier, at = history.sample(number).tier, history.at(number, after)
        ids = (row_id, session_id(number), tier, row_id)
        return *ids, *result, *terms, verdict.contributions, at

    varying = "id session_id tier call_id coherence_score verdict_label flags crosscheck_reason"
    varying = f"{varying} v_t v_r e_d contributions created_at"
    threshold = history.samples[0].original.decision.threshold
    original = {"threshold": threshold, "kind": "original"}
    regen = {"threshold": threshold, "kind": "regen"}
    return [
        RowSet(
            CrosscheckLog,
            varying,
            lambda numbers: starmap(row, _originals(history, numbers)),
            {**original, "approved": True},
        ),
        RowSet(
            CrosscheckLog,
            f"{varying} evidence",
            lambda numbers: (
                (*row(n, n, history.sample(n).rejected, GATED), history.sample(n).rejected.payload)
                for n in numbers
                if is_rejected(n)
            ),
            {**original, "approved": False},
        ),
        RowSet(
            CrosscheckLog,
            varying,
            lambda numbers: starmap(row, _regenerations(history, numbers)),
            {**regen, "approved": True},
        ),
    ]


def verdicts(history: OrderHistory) -> list[RowSet]:
    def row(number: int, row_id: int, verdict: SampleVerdict, after: int) -> Row:
        # Unique per row, unlike the fingerprint of the shared sample text.
        at, fingerprint = history.at(number, after), random_hex("text", row_id)[:12]
        return row_id, number, verdict.label, verdict.payload, fingerprint, row_id, row_id, at

    varying = "id order_id label payload fingerprint call_id crosscheck_id created_at"
    return [
        RowSet(
            Verdict,
            varying,
            lambda numbers: starmap(row, _originals(history, numbers)),
            {"kind": "original"},
        ),
        RowSet(
            Verdict,
            varying,
            lambda numbers: starmap(row, _regenerations(history, numbers)),
            {"kind": "regen"},
        ),
    ]


def cached(history: OrderHistory) -> list[RowSet]:
    def rows(numbers: range) -> Iterator[Row]:
        for number in filter(is_delivered, numbers):
            row_id, verdict, after = number, history.sample(number).original, GATED
            if is_regenerated(number):
                row_id, after = number + history.regen_offset, REGEN_GATED
                verdict = _regen(history, number)
            session, at = session_id(number), history.at(number, after)
            yield session_number(session), session, row_id, verdict.body, verdict.etag, at

    varying = "id session_id verdict_id body etag cached_at"
    return [RowSet(CachedVerdict, varying, rows, {"approved": True})]


def divergences(history: OrderHistory) -> list[RowSet]:
    def rows(numbers: range) -> Iterator[Row]:
        for number in filter(is_regenerated, numbers):
            sample, regen = history.sample(number), _regen(history, number)
            ids = (number, number + history.regen_offset, session_id(number), sample.tier)
            labels = (sample.original.label, regen.label, level(number))
            yield *ids, *labels, history.at(number, COMPARED)

    varying = "id crosscheck_id session_id tier original_verdict regen_verdict level created_at"
    fixed = {"original_source": "verdict", "skipped": False, "same_inputs": True, "latency_ms": 30}
    return [RowSet(DivergenceEvent, varying, rows, {**fixed, "causes": ["infrastructure"]})]


def _originals(history: OrderHistory, numbers: range) -> Iterator[GatedVerdict]:
    for number in filter(is_delivered, numbers):
        yield number, number, history.sample(number).original, GATED


def _regenerations(history: OrderHistory, numbers: range) -> Iterator[GatedVerdict]:
    for number in filter(is_regenerated, numbers):
        yield number, number + history.regen_offset, _regen(history, number), REGEN_GATED


def _regen(history: OrderHistory, number: int) -> SampleVerdict:
    return history.sample(number).regens[level(number)]
