"""Paths to a verdict's labels, texts and containers, and copies changed at a path.

Pure: no I/O, no clock, no Django. Payloads are never changed in place: each change
returns a new object that shares the unchanged parts.
"""

import json
from collections.abc import Mapping
from typing import Any

from audit.core.vocabulary import DIMENSIONS, TIERS_WITH_BREAKDOWN

Payload = dict[str, Any]
Path = tuple[str, ...]


def dimensions(tier: str) -> tuple[str, ...]:
    return DIMENSIONS if tier in TIERS_WITH_BREAKDOWN else ()


def labels(tier: str) -> list[Path]:
    return [("verdict",), *(("breakdown", name, "verdict") for name in dimensions(tier))]


def texts(tier: str) -> list[Path]:
    """All required texts except the tests; the summary is first."""
    found: list[Path] = [("summary",)]
    found += [("breakdown", name, "analysis") for name in dimensions(tier)]
    if tier == "strategy":
        found += [("strategy", "next_step"), ("strategy", "alternative")]
    return found


def containers(tier: str) -> list[Path]:
    found: list[Path] = []
    if dimensions(tier):
        found += [("breakdown",), *(("breakdown", name) for name in DIMENSIONS)]
    if tier == "strategy":
        found += [("strategy",), ("strategy", "tests")]
    return found


def required(tier: str) -> list[Path]:
    return [*labels(tier), *texts(tier), *containers(tier)]


def at(payload: Payload, path: Path) -> Any:
    for key in path:
        payload = payload[key]
    return payload


def put(payload: Payload, path: Path, value: object) -> Payload:
    key, *rest = path
    inner = put(payload[key], tuple(rest), value) if rest else value
    return {**payload, key: inner}


def put_all(payload: Payload, values: Mapping[Path, object]) -> Payload:
    for path, value in values.items():
        payload = put(payload, path, value)
    return payload


def without(payload: Payload, path: Path) -> Payload:
    key, *rest = path
    if rest:
        return {**payload, key: without(payload[key], tuple(rest))}
    return {one: value for one, value in payload.items() if one != key}


def renamed(payload: Payload, path: Path, name: str) -> Payload:
    """The payload with the last key of `path` renamed."""
    return put(without(payload, path), (*path[:-1], name), at(payload, path))


def as_text(payload: object) -> str:
    """JSON as a model writes it."""
    return json.dumps(payload, ensure_ascii=False)
