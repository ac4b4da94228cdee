"""Mutations of the output's syntax: it is no longer exactly one strict JSON object.

Pure: no I/O, no clock, no Django.
"""

import json
from collections.abc import Iterator

from audit.core.mutations.paths import Payload, as_text, at, put, texts


def truncated(payload: Payload, _tier: str) -> Iterator[str]:
    text = as_text(payload)
    yield from (text[: len(text) * quarters // 4] for quarters in (1, 2, 3))
    yield text[:-1]


def empty(_payload: Payload, _tier: str) -> Iterator[str]:
    yield from ("", "{}", "null")


def prose_only(payload: Payload, _tier: str) -> Iterator[str]:
    yield f"My verdict is {payload['verdict']}. {payload['summary']}"


def prose_around(payload: Payload, _tier: str) -> Iterator[str]:
    text = as_text(payload)
    yield f"Here is my verdict:\n{text}"
    yield f"{text}\nI hope this helps!"


def second_object(payload: Payload, _tier: str) -> Iterator[str]:
    yield f"{as_text(payload)}\n{as_text(payload)}"


def invalid_json(payload: Payload, _tier: str) -> Iterator[str]:
    text = as_text(payload)
    yield repr(payload)  # Python's quotes
    yield f"{text[:-1]},}}"
    yield f"{text[:-1]} // as asked\n}}"
    yield f'{text[:-1]}, "confidence": NaN}}'


def duplicate_key(payload: Payload, _tier: str) -> Iterator[str]:
    """Parsers disagree on which of two equal keys wins."""
    other = "RED" if payload["verdict"] == "GREEN" else "GREEN"
    yield f'{as_text(payload)[:-1]}, "verdict": "{other}"}}'


def unstorable(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        for character in ("\ud83d", "\0"):  # databases reject both
            yield json.dumps(put(payload, path, f"{at(payload, path)}{character}"))


def wrapped(payload: Payload, _tier: str) -> Iterator[str]:
    yield as_text([payload])
    yield as_text({"result": payload})
    yield as_text(as_text(payload))
