"""Gemini: one locked request in, one answer out. The only importer of google-genai.

An answer is whatever came back with a text or a stated reason for having none:
blocked, cut off or empty, it goes to the gate like any other. Errors are
mapped here, once, to the three that the services handle.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from verdicts.core.errors import ModelBusy, ModelRefused, ModelRetired
from verdicts.core.lock import ModelRequest
from verdicts.gateways.within import generation, within

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentConfig, GenerateContentResponse

GONE: Final = 404
# The request itself is at fault: the same again would fail the same.
REFUSED: Final = frozenset({400, 413, 422})
_OUTSIDE: Final = frozenset({"httpx", "httpx2", "httpcore2", "ssl", "pydantic_core"})
RETRIED: Final = [408, 429, 500, 502, 503, 504]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where Gemini is and how long one call may take, retries included."""

    api_key: str
    base_url: str | None = None
    deadline: float = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    finish_reason: str
    block_reason: str
    model_version: str
    response_id: str
    prompt_tokens: int
    output_tokens: int


def generate(request: ModelRequest, endpoint: Endpoint) -> Answer:
    """Ask once, with retries inside the deadline. Raises a ModelError."""
    # Imported at the call: 0.4 s and 44 MB that a web process does not need.
    from google.genai import errors  # noqa: PLC0415 - see above

    client = _client(endpoint, generation())
    call = client.aio.models.generate_content(
        model=request.model, contents=request.prompt, config=_config(request.config)
    )
    try:
        return _answer(within(endpoint.deadline, call))
    except errors.APIError as error:
        if error.code == GONE:
            raise ModelRetired(f"{request.model} no longer answers (404)") from None
        if error.code in REFUSED and not _is_about_our_key(error):
            raise ModelRefused(f"the model refused the request ({error.code})") from None
        raise ModelBusy(f"the model answered {error.code}") from None
    except TimeoutError:
        raise ModelBusy(f"no answer within {endpoint.deadline:g} s") from None
    except json.JSONDecodeError:
        raise ModelBusy("the model's answer was not JSON") from None
    except Exception as error:
        # Transport errors of whichever HTTP library the SDK has chosen, and answers
        # that are not of the API's shape, which it finds out by pydantic.
        if type(error).__module__.partition(".")[0] in _OUTSIDE:
            raise ModelBusy(f"no answer to be used ({type(error).__name__})") from None
        raise


@cache  # kept: one that is dropped leaves its connections open behind it
def _client(endpoint: Endpoint, _generation: int) -> "Client":
    from google.genai import Client, types  # noqa: PLC0415 - see generate

    options = types.HttpOptions(
        base_url=endpoint.base_url,
        api_version="v1beta",
        timeout=int(endpoint.deadline * 1000),
        retry_options=types.HttpRetryOptions(
            attempts=3, initial_delay=0.3, max_delay=3, http_status_codes=RETRIED
        ),
        client_args={"trust_env": False},
        async_client_args={"trust_env": False},
    )
    return Client(api_key=endpoint.api_key, http_options=options)


def _is_about_our_key(error: "APIError") -> bool:
    """Gemini refuses a bad key with 400 too; the request is not at fault then."""
    return "API_KEY_INVALID" in json.dumps(error.details, default=str)


def _config(config: dict[str, Any]) -> "GenerateContentConfig":
    from google.genai import types  # noqa: PLC0415 - see generate

    flat = dict(config)
    budget = flat.pop("thinking_budget")
    return types.GenerateContentConfig(
        **flat, thinking_config=types.ThinkingConfig(thinking_budget=budget)
    )


def _answer(response: "GenerateContentResponse") -> Answer:
    candidate = response.candidates[0] if response.candidates else None
    parts = (candidate.content.parts or []) if candidate and candidate.content else []
    finish = candidate.finish_reason if candidate else None
    feedback = response.prompt_feedback
    usage = response.usage_metadata
    return Answer(
        text="".join(part.text for part in parts if part.text and not part.thought),
        finish_reason=finish.value if finish else "",
        block_reason=feedback.block_reason.value if feedback and feedback.block_reason else "",
        model_version=response.model_version or "",
        response_id=response.response_id or "",
        prompt_tokens=(usage.prompt_token_count or 0) if usage else 0,
        output_tokens=(usage.candidates_token_count or 0) if usage else 0,
    )
