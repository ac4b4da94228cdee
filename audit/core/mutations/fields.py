"""Damage to single fields: missing, empty, of another type, not one of the four labels.

Pure: no I/O, no clock, no Django. Each is done at each place in turn.
"""

from collections.abc import Iterator
from typing import Final

from audit.core.mutations.paths import (
    Payload,
    as_text,
    at,
    containers,
    dimensions,
    labels,
    put,
    renamed,
    required,
    texts,
    without,
)

INVISIBLE: Final = "\u200b" * 12  # twelve spaces of no width, which strip() leaves alone


def missing(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(without(payload, path)) for path in required(tier))


def misspelt(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(renamed(payload, path, path[-1].swapcase())) for path in required(tier))


def null(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, None)) for path in required(tier))


def other_type(payload: Payload, tier: str) -> Iterator[str]:
    for path in required(tier):
        value = at(payload, path)
        yield as_text(put(payload, path, [value] if isinstance(value, str) else as_text(value)))
        yield as_text(put(payload, path, 7))


def empty_container(payload: Payload, tier: str) -> Iterator[str]:
    for path in containers(tier):
        yield as_text(put(payload, path, type(at(payload, path))()))


def label_empty(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, "")) for path in labels(tier))


def label_respelt(payload: Payload, tier: str) -> Iterator[str]:
    for path in labels(tier):
        label = at(payload, path)
        for spelt in (label.lower(), label.title(), f"{label} ", f"**{label}**"):
            yield as_text(put(payload, path, spelt))


def label_unknown(payload: Payload, tier: str) -> Iterator[str]:
    for path in labels(tier):
        yield from (as_text(put(payload, path, word)) for word in ("YELLOW", "GREEN/AMBER", "8/10"))


def summary_blank(payload: Payload, _tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, ("summary",), blank)) for blank in ("", "   ", "\n"))


def summary_short(payload: Payload, _tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, ("summary",), short)) for short in ("x", "Go.", "Fine idea"))


def analysis_blank(payload: Payload, tier: str) -> Iterator[str]:
    for name in dimensions(tier):
        for blank in ("", "   "):
            yield as_text(put(payload, ("breakdown", name, "analysis"), blank))


def strategy_text_blank(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        if path[0] == "strategy":
            yield from (as_text(put(payload, path, blank)) for blank in ("", "   "))


def invisible(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, INVISIBLE)) for path in texts(tier))
