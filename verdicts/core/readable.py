"""An approved verdict as people read it: the tier's fields, in order, text only.

Pure: no I/O, no clock, no Django. Page and email both show this. What the tier
did not promise is left out, and so is anything that is not text.
"""

from dataclasses import dataclass
from typing import Any

from audit.core.vocabulary import DIMENSIONS, TierName


@dataclass(frozen=True, slots=True)
class ReadableDimension:
    name: str
    label: str
    analysis: str


@dataclass(frozen=True, slots=True)
class Readable:
    label: str
    summary: str
    dimensions: tuple[ReadableDimension, ...] = ()
    next_step: str = ""
    alternative: str = ""
    tests: tuple[str, ...] = ()


def readable(tier: TierName, payload: dict[str, Any]) -> Readable:
    """`payload` must have passed the gate for `tier`: every required field is there."""
    label, summary = payload["verdict"], payload["summary"]
    if tier == "quick":
        return Readable(label, summary)
    breakdown = payload["breakdown"]
    dimensions = tuple(
        ReadableDimension(name, breakdown[name]["verdict"], breakdown[name]["analysis"])
        for name in DIMENSIONS
    )
    if tier == "full":
        return Readable(label, summary, dimensions)
    block = payload["strategy"]
    tests = tuple(test for test in block["tests"] if isinstance(test, str) and test.strip())
    return Readable(label, summary, dimensions, block["next_step"], block["alternative"], tests)
