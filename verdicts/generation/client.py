"""Gemini: one locked request in, one answer out. The only importer of google-genai.

An answer is whatever came back with a text or a stated reason for having none:
blocked, cut off or empty, it goes to the gate like any other. Errors are
mapped here, once, to the three that the services handle.
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

from verdicts.core.errors import ModelBusy, ModelFull, ModelRefused, ModelRetired
from verdicts.core.request_config import ModelRequest
from verdicts.http.concurrency_limit import Slots
from verdicts.http.deadline import generation, within

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentConfig, GenerateContentResponse

GONE: Final = 404
# The request itself is at fault: the same again would fail the same.
REFUSED: Final = frozenset({400, 413, 422})
_OUTSIDE: Final = frozenset({"httpx", "httpx2", "httpcore2", "ssl", "pydantic_core"})
RETRIED: Final = [408, 500, 502, 503, 504]
# A quota opens again by itself, so it is waited for as long as there is time: who went
# back to the queue instead would lose an attempt and their place to whoever comes next.
QUOTA: Final = 429
FIRST_WAIT: Final = 0.5
# Who waits for the quota: whether there is a place in the line, for as long as the block runs.
Line = Callable[[], AbstractContextManager[bool]]
_making = threading.Lock()
# Readers of this process who wait for the quota: one at a time, so that they do not compete.
waiting_for_quota = Slots()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where Gemini is and how long one call may take, retries included."""

    api_key: str
    base_url: str | None = None
    deadline: float = 60.0
    longest_wait: float = 2.0  # between two looks at a full quota


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
    request: ModelRequest, endpoint: Endpoint, line: Line = lambda: nullcontext(True)
) -> Answer:
    """Ask once, with retries inside the deadline. Raises a ModelError.

    A full quota is waited for in the `line`; who finds no place there gets ModelFull.
    """
    try:
        return within(endpoint.deadline, _generate(request, endpoint, line))
    except TimeoutError:
        raise ModelBusy(f"no answer within {endpoint.deadline:g} s") from None


async def _generate(request: ModelRequest, endpoint: Endpoint, line: Line) -> Answer:
    # Beside the loop, which is everybody's, and within the deadline: the first time it takes
    # half a second of a processor, and many times that where others want one too.
    client = await asyncio.to_thread(_kept, endpoint, generation())
    from google.genai import errors  # noqa: PLC0415 - see _client

    try:
        return _answer(await _within_quota(client, request, endpoint, line))
    except errors.APIError as error:
        if error.code == GONE:
            raise ModelRetired(f"{request.model} no longer answers (404)") from None
        if error.code in REFUSED and not _is_about_our_key(error):
            raise ModelRefused(f"the model refused the request ({error.code})") from None
        raise ModelBusy(f"the model answered {error.code}") from None
    except (json.JSONDecodeError, RecursionError):
        raise ModelBusy("the model's answer was not JSON") from None
    except Exception as error:
        # Transport errors of whichever HTTP library the SDK has chosen, and answers
        # that are not of the API's shape, which it finds out by pydantic.
        if type(error).__module__.partition(".")[0] in _OUTSIDE:
            raise ModelBusy(f"no answer to be used ({type(error).__name__})") from None
        raise


async def _within_quota(
    client: "Client", request: ModelRequest, endpoint: Endpoint, line: Line
) -> "GenerateContentResponse":
    clock = asyncio.get_running_loop().time
    until = clock() + endpoint.deadline
    response = await _ask(client, request)
    if response is not None:
        return response
    wait = FIRST_WAIT
    with line() as ours:
        if not ours:
            raise ModelFull("the model's quota is full, and others wait for it")
        while response is None:
            pause = wait * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come at once
            if clock() + pause > until:
                raise ModelBusy(f"the model answered {QUOTA} for {endpoint.deadline:g} s")
            await asyncio.sleep(pause)
            wait = min(wait * 2, endpoint.longest_wait)
            response = await _ask(client, request)
    return response


async def _ask(client: "Client", request: ModelRequest) -> "GenerateContentResponse | None":
    """None: the quota is full."""
    from google.genai import errors  # noqa: PLC0415 - see _client

    try:
        return await client.aio.models.generate_content(
            model=request.model, contents=request.prompt, config=_config(request.config)
        )
    except errors.APIError as error:
        if error.code != QUOTA:
            raise
        return None


def _kept(endpoint: Endpoint, number: int) -> "Client":
    """One for all: a second one would be dropped, and closed under whoever uses it."""
    with _making:
        return _client(endpoint, number)


@cache  # kept: one that is dropped leaves its connections open behind it
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
    """Import the SDK now: once for all the workers that are forked from here, not by each."""
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
