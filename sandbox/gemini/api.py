"""Gemini's generateContent: the response around the answer, and Google's errors."""

import secrets
from collections.abc import Callable
from typing import Any, Final

from sandbox.dispatch import Api, Route
from sandbox.faults import in_share
from sandbox.gemini import errors
from sandbox.gemini.answers import write_text
from sandbox.gemini.request_parsing import GenerateRequest, InvalidRequest, parse_request
from sandbox.http_messages import Reply, Request, as_json
from sandbox.state import State


def _searchable(request: Request) -> str:
    """Path, prompt and submission, so that a rule can match one customer's query."""
    try:
        parsed = parse_request(request)
    except InvalidRequest:
        return f"{request.target}\n{request.text}"
    return f"{request.target}\n{parsed.prompt}\n{parsed.query}"


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
    """One candidate, after the configured latency."""
    key = request.headers.get("x-goog-api-key") or request.query.get("key")
    if not key:
        return errors.no_key()
    if key.startswith("bad"):
        return errors.bad_key()
    try:
        parsed = parse_request(request)
    except InvalidRequest as error:
        return errors.google_error(400, "INVALID_ARGUMENT", str(error))
    state.pause(state.settings.latency)
    fault = request.fault.fault if request.fault else ""
    if fault == "blocked":
        return as_json(_envelope(parsed, "", promptFeedback={"blockReason": "PROHIBITED_CONTENT"}))
    if fault in _WITHOUT_TEXT:
        return as_json(_envelope(parsed, "", candidates=[_WITHOUT_TEXT[fault]()]))
    varied = fault == "variance" or (
        not fault and in_share(state.settings.variance, secrets.token_hex(8))
    )
    text = write_text(parsed, rule=request.fault, varied=varied)
    candidate = {
        "content": {"parts": [{"text": text}], "role": "model"},
        "finishReason": "MAX_TOKENS" if fault == "max_tokens" else "STOP",
        "index": 0,
    }
    return as_json(_envelope(parsed, text, candidates=[candidate]))


def _envelope(parsed: GenerateRequest, text: str, **first: Any) -> dict[str, Any]:
    """`first`, then the fields that every response has."""
    prompt_tokens, output_tokens = _tokens(parsed.prompt), _tokens(text)
    usage = {"promptTokenCount": prompt_tokens, "totalTokenCount": prompt_tokens + output_tokens}
    if output_tokens:
        usage["candidatesTokenCount"] = output_tokens
    return {
        **first,
        "usageMetadata": usage,
        "modelVersion": parsed.model,
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
