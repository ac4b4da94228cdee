"""Damage to the text that the verdict comes in: it is no longer the one strict JSON object.

Pure: no I/O, no clock, no Django.
"""

import json
from collections.abc import Iterator

from audit.core.mutations.paths import Payload, as_text, at, put, texts


def cut_off(payload: Payload, _tier: str) -> Iterator[str]:
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


def second_answer(payload: Payload, _tier: str) -> Iterator[str]:
    yield f"{as_text(payload)}\n{as_text(payload)}"


def not_quite_json(payload: Payload, _tier: str) -> Iterator[str]:
    text = as_text(payload)
    yield repr(payload)  # Python's quotes
    yield f"{text[:-1]},}}"
    yield f"{text[:-1]} // as asked\n}}"
    yield f'{text[:-1]}, "confidence": NaN}}'


def key_twice(payload: Payload, _tier: str) -> Iterator[str]:
    """Two verdicts in one object: which of them holds depends on who reads it."""
    other = "RED" if payload["verdict"] == "GREEN" else "GREEN"
    yield f'{as_text(payload)[:-1]}, "verdict": "{other}"}}'


def unstorable(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        for character in ("\ud83d", "\0"):  # half of an emoji, and what no database takes
            yield json.dumps(put(payload, path, f"{at(payload, path)}{character}"))


def wrapped(payload: Payload, _tier: str) -> Iterator[str]:
    yield as_text([payload])
    yield as_text({"result": payload})
    yield as_text(as_text(payload))
