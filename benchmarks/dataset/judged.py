"""What the model was asked and said, and what the gate made of it."""

from collections.abc import Iterator

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from benchmarks.dataset.ideas import MODEL, Answer
from benchmarks.dataset.past import (
    ASKED,
    ASKED_AGAIN,
    COMPARED,
    JUDGED,
    JUDGED_AGAIN,
    Past,
    is_delivered,
    is_failed,
    is_regenerated,
    is_rejected,
    level,
    random_hex,
    session_id,
)
from benchmarks.dataset.shape import Row, Shape
from verdicts.core.sessions import session_number
from verdicts.models import CachedVerdict, Verdict


def calls(past: Past) -> list[Shape]:
    def row(number: int, its: int, after: int) -> Row:
        idea = past.idea(number)
        at, response = past.at(number, after), random_hex("response", its)
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
        Shape(
            ModelCall,
            varying,
            lambda some: (row(n, n, ASKED) for n in some if not is_failed(n)),
            {**answered, "kind": "original"},
        ),
        Shape(
            ModelCall,
            varying,
            lambda some: (row(n, n, ASKED) for n in some if is_failed(n)),
            {**refused, "kind": "original"},
        ),
        Shape(
            ModelCall,
            varying,
            lambda some: (row(n, n + past.beyond, ASKED_AGAIN) for n in some if is_regenerated(n)),
            {**answered, "kind": "regen"},
        ),
    ]


def crosschecks(past: Past) -> list[Shape]:
    def row(number: int, its: int, answer: Answer, after: int) -> Row:
        found = answer.decision
        terms = (found.crosscheck_reason, found.v_t, found.v_r, found.e_d, answer.contributions)
        decided = (found.coherence_score, found.verdict_label, answer.flags, *terms)
        tier, at = past.idea(number).tier, past.at(number, after)
        return its, session_id(number), tier, its, *decided, at

    varying = "id session_id tier call_id coherence_score verdict_label flags crosscheck_reason"
    varying = f"{varying} v_t v_r e_d contributions created_at"
    threshold = past.ideas[0].original.decision.threshold
    original = {"threshold": threshold, "kind": "original"}
    regen = {"threshold": threshold, "kind": "regen"}
    return [
        Shape(
            CrosscheckLog,
            varying,
            lambda some: (
                row(n, n, past.idea(n).original, JUDGED) for n in some if is_delivered(n)
            ),
            {**original, "approved": True},
        ),
        Shape(
            CrosscheckLog,
            f"{varying} evidence",
            lambda some: (
                (*row(n, n, past.idea(n).rejected, JUDGED), past.idea(n).rejected.payload)
                for n in some
                if is_rejected(n)
            ),
            {**original, "approved": False},
        ),
        Shape(
            CrosscheckLog,
            varying,
            lambda some: (
                row(n, n + past.beyond, _again(past, n), JUDGED_AGAIN)
                for n in some
                if is_regenerated(n)
            ),
            {**regen, "approved": True},
        ),
    ]


def verdicts(past: Past) -> list[Shape]:
    def row(number: int, its: int, answer: Answer, after: int) -> Row:
        # The pool's own would be that of thousands.
        at, fingerprint = past.at(number, after), random_hex("text", its)[:12]
        return its, number, answer.label, answer.payload, fingerprint, its, its, at

    varying = "id order_id label payload fingerprint call_id crosscheck_id created_at"
    return [
        Shape(
            Verdict,
            varying,
            lambda some: (
                row(n, n, past.idea(n).original, JUDGED) for n in some if is_delivered(n)
            ),
            {"kind": "original"},
        ),
        Shape(
            Verdict,
            varying,
            lambda some: (
                row(n, n + past.beyond, _again(past, n), JUDGED_AGAIN)
                for n in some
                if is_regenerated(n)
            ),
            {"kind": "regen"},
        ),
    ]


def cached(past: Past) -> list[Shape]:
    def rows(some: range) -> Iterator[Row]:
        for number in filter(is_delivered, some):
            its, answer, after = number, past.idea(number).original, JUDGED
            if is_regenerated(number):
                its, answer, after = number + past.beyond, _again(past, number), JUDGED_AGAIN
            session, at = session_id(number), past.at(number, after)
            yield session_number(session), session, its, answer.body, answer.etag, at

    varying = "id session_id verdict_id body etag cached_at"
    return [Shape(CachedVerdict, varying, rows, {"approved": True})]


def divergences(past: Past) -> list[Shape]:
    def rows(some: range) -> Iterator[Row]:
        for number in filter(is_regenerated, some):
            idea, again = past.idea(number), _again(past, number)
            labels = (idea.original.label, again.label, level(number))
            its = (number, number + past.beyond, session_id(number), idea.tier)
            yield *its, *labels, past.at(number, COMPARED)

    varying = "id crosscheck_id session_id tier original_verdict regen_verdict level created_at"
    same = {"original_source": "verdict", "skipped": False, "same_inputs": True, "latency_ms": 30}
    return [Shape(DivergenceEvent, varying, rows, {**same, "causes": ["infrastructure"]})]


def _again(past: Past, number: int) -> Answer:
    return past.idea(number).regens[level(number)]
