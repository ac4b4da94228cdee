"""What a generateContent request asks for: model, prompt, submission, schema, knobs."""

import json
from dataclasses import dataclass
from typing import Any

from sandbox.wire import Request

OPENING = "<<<SUBMISSION"


class BadAsk(Exception):
    """The request is not one that generateContent takes."""


@dataclass(frozen=True, slots=True)
class Ask:
    model: str
    prompt: str
    query: str
    temperature: float
    seed: int | None
    dimensions: tuple[str, ...]  # empty: no breakdown is asked for
    with_strategy: bool


def read_ask(request: Request) -> Ask:
    """Everything that decides the answer, or BadAsk."""
    try:
        body = json.loads(request.body)
        config = body.get("generationConfig") or {}
        prompt = prompt_of(body)
        temperature = float(config.get("temperature", 1.0))
        seed = config.get("seed")
        asked = _properties(_schema(config))
        dimensions = tuple(_properties(asked.get("breakdown")))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise BadAsk("Invalid JSON payload received.") from None
    if not prompt:
        raise BadAsk("* GenerateContentRequest.contents: contents is not specified")
    if seed is not None and (type(seed) is not int or not -(2**31) <= seed < 2**31):
        raise BadAsk("Invalid value at 'generation_config.seed' (TYPE_INT32)")
    model = request.segment(2).partition(":")[0]
    return Ask(
        model, prompt, submission(prompt), temperature, seed, dimensions, "strategy" in asked
    )


def prompt_of(body: dict[str, Any]) -> str:
    """Every text of the request in order, the system instruction first."""
    contents = body.get("contents") or []
    contents = contents if isinstance(contents, list) else [contents]
    system = body.get("systemInstruction") or body.get("system_instruction")
    turns = [system, *contents] if system else contents
    parts = (part for turn in turns for part in turn.get("parts") or [])
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def submission(prompt: str) -> str:
    """The last JSON string between the fences; without one, the whole prompt."""
    lines = prompt.split("\n")
    if OPENING in lines:
        start = len(lines) - lines[::-1].index(OPENING)
        for line in reversed(lines[start:]):
            try:
                query = json.loads(line)
            except ValueError:
                continue  # the closing fence, or whatever stands around
            if isinstance(query, str):
                return query
    return prompt


def _schema(config: dict[str, Any]) -> Any:
    names = ("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema")
    return next((config[name] for name in names if name in config), None)


def _properties(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}
