"""Changes that do not affect a verdict: a gate that rejects one is too strict.

Pure: no I/O, no clock, no Django.
"""

import json
from collections.abc import Iterator

from audit.core.mutations.paths import Payload, as_text, at, dimensions, put
from audit.core.vocabulary import DIMENSIONS

_EXTRA = {"verdict": "AMBER", "analysis": "A remark that nobody had asked for."}


def fenced(payload: Payload, _tier: str) -> Iterator[str]:
    yield from (f"```{info}\n{as_text(payload)}\n```" for info in ("", "json"))


def whitespace(payload: Payload, _tier: str) -> Iterator[str]:
    yield json.dumps(payload, ensure_ascii=False, indent=2)
    yield f"\n\n  {as_text(payload)}\n"


def escaped(payload: Payload, _tier: str) -> Iterator[str]:
    yield json.dumps(payload)


def other_order(payload: Payload, _tier: str) -> Iterator[str]:
    yield as_text(_reversed(payload))


def _reversed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return value


def extra_fields(payload: Payload, tier: str) -> Iterator[str]:
    """C10: fields that the tier does not require are ignored, also those of a dearer tier."""
    yield as_text({**payload, "confidence": 0.8, "sources": ["none"]})
    if dimensions(tier):
        yield as_text(put(payload, ("breakdown", "Luck"), _EXTRA))
    else:
        yield as_text({**payload, "breakdown": dict.fromkeys(DIMENSIONS, _EXTRA)})
    if tier != "strategy":
        yield as_text({**payload, "strategy": {"next_step": "Begin."}})


def more_tests(payload: Payload, tier: str) -> Iterator[str]:
    if tier == "strategy":
        tests = [*at(payload, ("strategy", "tests")), "Somebody asks for a second one.", "No loss."]
        yield as_text(put(payload, ("strategy", "tests"), tests))
