"""Parses a generateContent request: model, prompt, submission, schema, parameters."""

import json
from dataclasses import dataclass
from typing import Any

from sandbox.http_messages import Request

SUBMISSION_MARKER = "<<<SUBMISSION"


class InvalidRequest(Exception):
    """generateContent would reject this request."""


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    model: str
    prompt: str
    query: str
    temperature: float
    seed: int | None
    dimensions: tuple[str, ...]  # empty: no breakdown requested
    with_strategy: bool


def parse_request(request: Request) -> GenerateRequest:
    """Everything that determines the answer, or InvalidRequest."""
    try:
        body = json.loads(request.body)
        config = body.get("generationConfig") or {}
        prompt = join_texts(body)
        temperature = float(config.get("temperature", 1.0))
        seed = config.get("seed")
        properties = _properties(_schema(config))
        dimensions = tuple(_properties(properties.get("breakdown")))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidRequest("Invalid JSON payload received.") from None
    if not prompt:
        raise InvalidRequest("* GenerateContentRequest.contents: contents is not specified")
    if seed is not None and (type(seed) is not int or not -(2**31) <= seed < 2**31):
        raise InvalidRequest("Invalid value at 'generation_config.seed' (TYPE_INT32)")
    model = request.segment(2).partition(":")[0]
    return GenerateRequest(
        model,
        prompt,
        extract_submission(prompt),
        temperature,
        seed,
        dimensions,
        "strategy" in properties,
    )


def join_texts(body: dict[str, Any]) -> str:
    """All texts of the request in order, the system instruction first."""
    contents = body.get("contents") or []
    contents = contents if isinstance(contents, list) else [contents]
    system = body.get("systemInstruction") or body.get("system_instruction")
    turns = [system, *contents] if system else contents
    parts = (part for turn in turns for part in turn.get("parts") or [])
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def extract_submission(prompt: str) -> str:
    """The last JSON string after the marker; without one, the whole prompt."""
    lines = prompt.split("\n")
    if SUBMISSION_MARKER in lines:
        start = len(lines) - lines[::-1].index(SUBMISSION_MARKER)
        for line in reversed(lines[start:]):
            try:
                query = json.loads(line)
            except ValueError:
                continue  # the end marker, or other text
            if isinstance(query, str):
                return query
    return prompt


def _schema(config: dict[str, Any]) -> Any:
    names = ("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema")
    return next((config[name] for name in names if name in config), None)


def _properties(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}
