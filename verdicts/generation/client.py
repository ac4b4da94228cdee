"""Gemini: one locked request in, one answer out. The only importer of google-genai.

An answer is a response with a text or a stated reason for having none: blocked, cut off or
empty, it goes to the gate like any other. Errors are mapped here to those that services handle.
"""

import asyncio
import json
import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from verdicts.core.errors import ModelBusy, ModelQuotaExhausted, ModelRefused, ModelRetired
from verdicts.core.request_config import ModelRequest
from verdicts.http.concurrency_limit import ConcurrencyLimit
from verdicts.http.deadline import loop_id, run_with_deadline

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentConfig, GenerateContentResponse

GONE: Final = 404
# The request itself is at fault: a retry would fail the same way.
REFUSED: Final = frozenset({400, 413, 422})
_LIBRARIES: Final = frozenset({"httpx", "httpx2", "httpcore2", "ssl", "pydantic_core"})
RETRIED: Final = [408, 500, 502, 503, 504]
# Quota is refilled over time, so a call waits for it within its deadline: going back to the queue
# would cost the order an attempt and its place.
QUOTA: Final = 429
FIRST_WAIT: Final = 0.5
# Entered while a call waits for quota; yields whether the call may wait.
QuotaWait = Callable[[], AbstractContextManager[bool]]
_client_lock = threading.Lock()
# Readers of this process who wait for the quota: one at a time, so that they do not compete.
waiting_for_quota = ConcurrencyLimit()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where Gemini is and how long one call may take, retries included."""

    api_key: str
    base_url: str | None = None
    deadline: float = 60.0
    max_wait: float = 2.0  # between two tries while the quota is used up


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    finish_reason: str
    block_reason: str
    model_version: str
    response_id: str
    prompt_tokens: int
    output_tokens: int


def generate(
    request: ModelRequest, endpoint: Endpoint, quota_wait: QuotaWait = lambda: nullcontext(True)
) -> Answer:
    """One call, with retries inside the deadline. Raises a ModelError.

    ModelQuotaExhausted: the quota is used up, and `quota_wait` does not let this call wait for it.
    """
    try:
        return run_with_deadline(endpoint.deadline, _generate(request, endpoint, quota_wait))
    except TimeoutError:
        raise ModelBusy(f"no answer within {endpoint.deadline:g} s") from None


async def _generate(request: ModelRequest, endpoint: Endpoint, quota_wait: QuotaWait) -> Answer:
    # In a thread and within the deadline: the first import of the SDK takes half a second of CPU,
    # which must not block the shared event loop.
    client = await asyncio.to_thread(_shared_client, endpoint, loop_id())
    from google.genai import errors  # noqa: PLC0415 - see _client

    try:
        return _answer(await _within_quota(client, request, endpoint, quota_wait))
    except errors.APIError as error:
        if error.code == GONE:
            raise ModelRetired(f"{request.model} no longer answers (404)") from None
        if error.code in REFUSED and not _is_about_our_key(error):
            raise ModelRefused(f"the model refused the request ({error.code})") from None
        raise ModelBusy(f"the model answered {error.code}") from None
    except (json.JSONDecodeError, RecursionError):
        raise ModelBusy("the model's answer was not JSON") from None
    except Exception as error:
        # Transport errors of the HTTP library that the SDK uses, and answers that are not of the
        # API's shape, which pydantic reports.
        if type(error).__module__.partition(".")[0] in _LIBRARIES:
            raise ModelBusy(f"no usable answer ({type(error).__name__})") from None
        raise


async def _within_quota(
    client: "Client", request: ModelRequest, endpoint: Endpoint, quota_wait: QuotaWait
) -> "GenerateContentResponse":
    clock = asyncio.get_running_loop().time
    until = clock() + endpoint.deadline
    response = await _ask(client, request)
    if response is not None:
        return response
    wait = FIRST_WAIT
    with quota_wait() as may_wait:
        if not may_wait:
            raise ModelQuotaExhausted("the model's quota is used up, and other calls wait for it")
        while response is None:
            pause = wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
            if clock() + pause > until:
                raise ModelBusy(f"the model answered {QUOTA} for {endpoint.deadline:g} s")
            await asyncio.sleep(pause)
            wait = min(wait * 2, endpoint.max_wait)
            response = await _ask(client, request)
    return response


async def _ask(client: "Client", request: ModelRequest) -> "GenerateContentResponse | None":
    """None: the quota is used up."""
    from google.genai import errors  # noqa: PLC0415 - see _client

    try:
        return await client.aio.models.generate_content(
            model=request.model, contents=request.prompt, config=_config(request.config)
        )
    except errors.APIError as error:
        if error.code != QUOTA:
            raise
        return None


def _shared_client(endpoint: Endpoint, number: int) -> "Client":
    """One client for all threads: a second one would be dropped, and closed while in use."""
    with _client_lock:
        return _client(endpoint, number)


@cache  # a client that is dropped leaves its connections open
def _client(endpoint: Endpoint, _generation: int) -> "Client":
    # Imported at the call: 0.4 s and 44 MB that a web process does not need.
    from google.genai import Client, types  # noqa: PLC0415 - see above

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


def prepare() -> None:
    """Import the SDK before forking, so that workers share its memory."""
    import_module("google.genai")


def _is_about_our_key(error: "APIError") -> bool:
    """Gemini refuses a bad key with 400 too; the request is not at fault then."""
    return "API_KEY_INVALID" in json.dumps(error.details, default=str)


def _config(config: dict[str, Any]) -> "GenerateContentConfig":
    from google.genai import types  # noqa: PLC0415 - see _client

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
