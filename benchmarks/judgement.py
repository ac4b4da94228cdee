"""What the gate costs, as ratios to named peers in the same run.

All are timed in turns, and of each its best round counts: a busy machine only
ever adds time. Peers: the standard library's json, pydantic and jsonschema.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
from pydantic import BaseModel, Field, StringConstraints

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS, LABELS
from verdicts.core.tiers import TIER

ROUNDS = 40
Label = Literal["GREEN", "AMBER", "RED", "NULL"]


class Dimension(BaseModel):
    verdict: Label
    analysis: str


class Breakdown(BaseModel):
    stability: Dimension = Field(alias="Stability")
    turbulence: Dimension = Field(alias="Turbulence")
    change_rate: Dimension = Field(alias="Change Rate")
    completion: Dimension = Field(alias="Completion")
    curvature: Dimension = Field(alias="Curvature")


class FullVerdict(BaseModel):
    """Types only: the least that a pydantic user would write."""

    verdict: Label
    summary: str
    breakdown: Breakdown


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class StrictDimension(BaseModel):
    verdict: Label
    analysis: Text


class StrictBreakdown(BaseModel):
    stability: StrictDimension = Field(alias="Stability")
    turbulence: StrictDimension = Field(alias="Turbulence")
    change_rate: StrictDimension = Field(alias="Change Rate")
    completion: StrictDimension = Field(alias="Completion")
    curvature: StrictDimension = Field(alias="Curvature")


class StrictFullVerdict(BaseModel):
    """Blank text is refused too, as the gate notices it."""

    verdict: Label
    summary: Text
    breakdown: StrictBreakdown


# Which label a dimension has, beside the verdict's own: neighbours, mostly.
NEAR: dict[str, Sequence[str]] = {
    "GREEN": ("GREEN", "GREEN", "AMBER"),
    "AMBER": ("AMBER", "AMBER", "GREEN", "RED"),
    "RED": ("RED", "RED", "AMBER"),
    "NULL": ("NULL", "RED", "AMBER"),
}


def corpus(size: int) -> list[dict[str, Any]]:
    """Full verdicts of about 2.3 KB, each different, with dimensions near their verdict."""
    rng = random.Random(42)

    def words(count: int) -> str:
        return " ".join(f"word{rng.randrange(10_000)}" for _ in range(count))

    def entry(label: str) -> dict[str, str]:
        return {"verdict": rng.choice(NEAR[label]), "analysis": words(38)}

    labels = (rng.choice(LABELS) for _ in range(size))
    return [
        {
            "verdict": label,
            "summary": words(30),
            "breakdown": {name: entry(label) for name in DIMENSIONS},
        }
        for label in labels
    ]


def alternating(work: dict[str, tuple[Callable[[Any], object], Sequence[Any]]]) -> dict[str, float]:
    """Microseconds per item for each piece of work: its best round, rounds taken in turns."""
    best = dict.fromkeys(work, float("inf"))
    for round_number in range(ROUNDS):
        progress(f"round {round_number + 1} of {ROUNDS}")
        for name, (function, items) in work.items():
            start = time.perf_counter()
            for item in items:
                function(item)
            best[name] = min(best[name], (time.perf_counter() - start) / len(items) * 1e6)
    progress("")
    return best


def speed() -> bool:
    parsed = corpus(500)
    texts = [json.dumps(payload) for payload in parsed]
    schema = jsonschema.Draft202012Validator(TIER["full"].schema)
    took = alternating(
        {
            "gate, parsed": (lambda payload: crosscheck(payload, "full"), parsed),
            "pydantic, types": (FullVerdict.model_validate, parsed),
            "pydantic, no blanks": (StrictFullVerdict.model_validate, parsed),
            "jsonschema": (schema.is_valid, parsed[:50]),
            "gate, text": (lambda text: crosscheck(text, "full"), texts),
            "json.loads": (json.loads, texts),
        }
    )
    print(f"Scoring a full verdict of {len(texts[0]):,} bytes, best of {ROUNDS} rounds in turns:\n")
    for name, microseconds in took.items():
        print(f"  {name:<20} {microseconds:>8.2f} µs")
    print()
    limits = (
        ("gate, parsed", "pydantic, types", 1.0),
        ("gate, parsed", "pydantic, no blanks", 1.0),
        ("gate, parsed", "jsonschema", 0.1),
        ("gate, text", "json.loads", 2.5),
    )
    held = [within_limit(f"{a} / {b}", took[a] / took[b], most) for a, b, most in limits]
    return all(held)


def peak_memory(lines: int, folder: Path) -> int:
    """Peak memory in KB of `score_verdict` over a JSONL file of that many verdicts."""
    path = folder / f"{lines}.jsonl"
    sample = [json.dumps(payload) + "\n" for payload in corpus(1_000)]
    with path.open("w") as file:
        for number in range(lines):
            file.write(sample[number % len(sample)])
    progress(f"scoring {lines:,} verdicts")
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "manage.py", "score_verdict", "--tier", "full", str(path)]
    run = subprocess.run(
        [sys.executable, "-c", program, *command], check=True, capture_output=True, text=True
    )
    return int(run.stdout)


def memory() -> bool:
    with tempfile.TemporaryDirectory(prefix="oracle-bench-") as name:
        small, large = (peak_memory(lines, Path(name)) for lines in (2_000, 200_000))
    progress("")
    print("\nMemory of score_verdict:\n")
    print(
        f"  2,000 verdicts   {small / 1024:>7.1f} MB\n  200,000 verdicts {large / 1024:>7.1f} MB\n"
    )
    return within_limit("200,000 / 2,000", large / small, 1.1)


def within_limit(name: str, ratio: float, limit: float) -> bool:
    state = "ok" if ratio <= limit else "OVER"
    print(f"  {name:<36} {ratio:>6.3f}  (at most {limit})  {state}")
    return ratio <= limit


def progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r  {what:<30}", end="" if what else "\r", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(not (speed() & memory()))
