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
from typing import Annotated, Any, Literal, NamedTuple

import jsonschema
from pydantic import BaseModel, Field, StringConstraints

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS, LABELS
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell
from verdicts.core.tiers import TIER

ROUNDS = 40
ABOUT = """
What one full verdict costs, as a parsed object and as text, beside what others take for as much or
less. All in turns; of each its best round counts, since a busy machine only ever adds time.
""".strip()
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


def corpus(size: int, *, wide: bool = False) -> list[dict[str, Any]]:
    """Full verdicts of about 2.3 KB, each different, with dimensions near their verdict.

    `wide`: every text has a typographic apostrophe, as models write it.
    """
    rng = random.Random(42)

    def words(count: int) -> str:
        text = " ".join(f"word{rng.randrange(10_000)}" for _ in range(count))
        return f"{text}\N{RIGHT SINGLE QUOTATION MARK}s" if wide else text

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


class Work(NamedTuple):
    """A piece of work and what makes its items: anew each round, as each verdict is new."""

    function: Callable[[Any], object]
    items: Callable[[], list[Any]]


def alternating(work: dict[str, Work]) -> dict[str, float]:
    """Microseconds per item for each piece of work: its best round, rounds taken in turns."""
    best = dict.fromkeys(work, float("inf"))
    with Progress("the gate") as progress:
        for turn in range(ROUNDS):
            progress.share(turn, ROUNDS)
            for name, (function, make) in work.items():
                items = make()
                start = time.perf_counter()
                for item in items:
                    function(item)
                best[name] = min(best[name], (time.perf_counter() - start) / len(items) * 1e6)
    return best


def speed(title: str, *, wide: bool) -> tuple[Table, list[Limit]]:
    texts = [json.dumps(payload, ensure_ascii=False) for payload in corpus(500, wide=wide)]
    schema = jsonschema.Draft202012Validator(TIER["full"].schema)

    def parsed() -> list[Any]:
        return [json.loads(text) for text in texts]

    took = alternating(
        {
            "gate, parsed": Work(lambda payload: crosscheck(payload, "full"), parsed),
            "pydantic, types": Work(FullVerdict.model_validate, parsed),
            "pydantic, no blanks": Work(StrictFullVerdict.model_validate, parsed),
            "jsonschema": Work(schema.is_valid, lambda: parsed()[:50]),
            "gate, text": Work(lambda text: crosscheck(text, "full"), lambda: texts),
            "json.loads": Work(json.loads, lambda: texts),
        }
    )
    rows = [[name, f"{microseconds:.2f} µs"] for name, microseconds in took.items()]
    table = Table(["", "each"], rows, f"{len(texts[0]):,} characters, {title}")
    wanted = [
        ("gate, parsed", "pydantic, no blanks", 1.0),
        ("gate, parsed", "jsonschema", 0.1),
        ("gate, text", "json.loads", 2.5),
    ]
    if not wide:  # types alone look into no text; of wide text, looking is most of the work
        wanted.insert(0, ("gate, parsed", "pydantic, types", 1.0))
    limits = [Limit(f"{a} / {b}, {title}", took[a] / took[b], most) for a, b, most in wanted]
    return table, limits


def peak_memory(lines: int, folder: Path) -> int:
    """Peak memory in KB of `score_verdict` over a JSONL file of that many verdicts."""
    path = folder / f"{lines}.jsonl"
    sample = [json.dumps(payload) + "\n" for payload in corpus(1_000)]
    with path.open("w") as file:
        for number in range(lines):
            file.write(sample[number % len(sample)])
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


def memory() -> tuple[Table, list[Limit]]:
    with (
        tempfile.TemporaryDirectory(prefix="oracle-bench-") as name,
        Progress("scoring 200,000 verdicts"),
    ):
        small, large = (peak_memory(lines, Path(name)) for lines in (2_000, 200_000))
    rows = [["2,000 verdicts", f"{small / 1024:.1f} MB"]]
    rows += [["200,000 verdicts", f"{large / 1024:.1f} MB"]]
    limit = Limit("memory of score_verdict, 200,000 / 2,000 verdicts", large / small, 1.1)
    return Table(["score_verdict", "memory"], rows), [limit]


def run() -> Section:
    section = Section("The gate", ABOUT)
    for table, limits in (
        speed("plain ASCII", wide=False),
        speed("typographic apostrophes", wide=True),
        memory(),
    ):
        section.tables.append(table)
        section.limits += limits
    return section


if __name__ == "__main__":
    sys.exit(tell(run()))
