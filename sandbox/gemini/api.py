"""Gemini's generateContent: the envelope around the answer, and Google's errors."""

import secrets
from collections.abc import Callable
from typing import Any, Final

from sandbox.dispatch import Api, Route
from sandbox.faults import falls_within
from sandbox.gemini import errors
from sandbox.gemini.answers import write_text
from sandbox.gemini.reading import Ask, BadAsk, read_ask
from sandbox.state import State
from sandbox.wire import Reply, Request, as_json


def _searchable(request: Request) -> str:
    """Path, prompt and submission, so that a rule can single out one customer's words."""
    try:
        ask = read_ask(request)
    except BadAsk:
        return f"{request.target}\n{request.text}"
    return f"{request.target}\n{ask.prompt}\n{ask.query}"


API: Final = Api(
    name="gemini",
    searchable=_searchable,
    errors={
        "bad_key": errors.bad_key,
        "bad_request": errors.bad_request,
        "not_found": errors.not_found,
        "rate_limited": errors.rate_limited,
        "error": errors.failed,
        "bad_gateway": errors.bad_gateway,
        "unavailable": errors.unavailable,
        "empty": lambda: as_json({}),
    },
)


def generate_content(state: State, request: Request) -> Reply:
    """One candidate, after the time that a model takes."""
    key = request.headers.get("x-goog-api-key") or request.query.get("key")
    if not key:
        return errors.no_key()
    if key.startswith("bad"):
        return errors.bad_key()
    try:
        ask = read_ask(request)
    except BadAsk as error:
        return errors.google_error(400, "INVALID_ARGUMENT", str(error))
    state.pause(state.settings.latency)
    fault = request.fault.fault if request.fault else ""
    if fault == "blocked":
        return as_json(_envelope(ask, "", promptFeedback={"blockReason": "PROHIBITED_CONTENT"}))
    if fault in _WITHOUT_TEXT:
        return as_json(_envelope(ask, "", candidates=[_WITHOUT_TEXT[fault]()]))
    varied = fault == "variance" or (
        not fault and falls_within(state.settings.variance, secrets.token_hex(8))
    )
    text = write_text(ask, rule=request.fault, varied=varied)
    candidate = {
        "content": {"parts": [{"text": text}], "role": "model"},
        "finishReason": "MAX_TOKENS" if fault == "max_tokens" else "STOP",
        "index": 0,
    }
    return as_json(_envelope(ask, text, candidates=[candidate]))


def _envelope(ask: Ask, text: str, **first: Any) -> dict[str, Any]:
    """`first`, then what every answer carries."""
    asked, said = _tokens(ask.prompt), _tokens(text)
    usage = {"promptTokenCount": asked, "totalTokenCount": asked + said}
    if said:
        usage["candidatesTokenCount"] = said
    return {
        **first,
        "usageMetadata": usage,
        "modelVersion": ask.model,
        "responseId": secrets.token_urlsafe(16),
    }


def _tokens(text: str) -> int:
    return (len(text) + 3) // 4  # about four characters each


def _unsafe() -> dict[str, Any]:
    rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
    return {"finishReason": "SAFETY", "index": 0, "safetyRatings": [rating]}


def _recited() -> dict[str, Any]:
    source = {"startIndex": 0, "endIndex": 120, "uri": "https://example.com/"}
    return {
        "finishReason": "RECITATION",
        "index": 0,
        "citationMetadata": {"citationSources": [source]},
    }


_WITHOUT_TEXT: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "safety": _unsafe,
    "recitation": _recited,
}
ROUTES: Final = (
    Route("POST", r"/(?:v1beta|v1)/models/[^/:]+:generateContent", generate_content, API),
)
