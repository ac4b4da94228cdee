"""Mutations of single fields: missing, empty, of the wrong type, an unknown label.

Pure: no I/O, no clock, no Django. Each is applied to each field in turn.
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

INVISIBLE: Final = "\u200b" * 12  # zero-width spaces, which strip() does not remove


def missing(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(without(payload, path)) for path in required(tier))


def wrong_case(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(renamed(payload, path, path[-1].swapcase())) for path in required(tier))


def null(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, None)) for path in required(tier))


def wrong_type(payload: Payload, tier: str) -> Iterator[str]:
    for path in required(tier):
        value = at(payload, path)
        yield as_text(put(payload, path, [value] if isinstance(value, str) else as_text(value)))
        yield as_text(put(payload, path, 7))


def empty_container(payload: Payload, tier: str) -> Iterator[str]:
    for path in containers(tier):
        yield as_text(put(payload, path, type(at(payload, path))()))


def empty_label(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, "")) for path in labels(tier))


def respelt_label(payload: Payload, tier: str) -> Iterator[str]:
    for path in labels(tier):
        label = at(payload, path)
        for spelt in (label.lower(), label.title(), f"{label} ", f"**{label}**"):
            yield as_text(put(payload, path, spelt))


def unknown_label(payload: Payload, tier: str) -> Iterator[str]:
    for path in labels(tier):
        yield from (as_text(put(payload, path, word)) for word in ("YELLOW", "GREEN/AMBER", "8/10"))


def blank_summary(payload: Payload, _tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, ("summary",), blank)) for blank in ("", "   ", "\n"))


def short_summary(payload: Payload, _tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, ("summary",), short)) for short in ("x", "Go.", "Fine idea"))


def blank_analysis(payload: Payload, tier: str) -> Iterator[str]:
    for name in dimensions(tier):
        for blank in ("", "   "):
            yield as_text(put(payload, ("breakdown", name, "analysis"), blank))


def blank_strategy_text(payload: Payload, tier: str) -> Iterator[str]:
    for path in texts(tier):
        if path[0] == "strategy":
            yield from (as_text(put(payload, path, blank)) for blank in ("", "   "))


def invisible(payload: Payload, tier: str) -> Iterator[str]:
    yield from (as_text(put(payload, path, INVISIBLE)) for path in texts(tier))
