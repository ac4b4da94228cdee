"""Time and memory of the gate, as ratios to named peers in the same run.

Rounds are interleaved and the best of each counts: other load on the machine only
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
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report
from verdicts.core.tiers import TIER

ROUNDS = 40
DESCRIPTION = """
Time to check one full verdict, given as a parsed object or as text, compared with validators that
check as much or less. Rounds are interleaved and the best of each counts, since other load on the
machine only ever adds time.
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
    """Types only: the minimum that a pydantic user would write."""

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
    """Rejects blank text as well, as the gate does."""

    verdict: Label
    summary: Text
    breakdown: StrictBreakdown


# Labels of the dimensions by the verdict's label: mostly the same or a neighbour.
NEARBY_LABELS: dict[str, Sequence[str]] = {
    "GREEN": ("GREEN", "GREEN", "AMBER"),
    "AMBER": ("AMBER", "AMBER", "GREEN", "RED"),
    "RED": ("RED", "RED", "AMBER"),
    "NULL": ("NULL", "RED", "AMBER"),
}


def corpus(size: int, *, non_ascii: bool = False) -> list[dict[str, Any]]:
    """Different full verdicts of about 2.3 KB each.

    With `non_ascii` every text has a typographic apostrophe, as models write them.
    """
    rng = random.Random(42)

    def words(count: int) -> str:
        text = " ".join(f"word{rng.randrange(10_000)}" for _ in range(count))
        return f"{text}\N{RIGHT SINGLE QUOTATION MARK}s" if non_ascii else text

    def entry(label: str) -> dict[str, str]:
        return {"verdict": rng.choice(NEARBY_LABELS[label]), "analysis": words(38)}

    labels = (rng.choice(LABELS) for _ in range(size))
    return [
        {
            "verdict": label,
            "summary": words(30),
            "breakdown": {name: entry(label) for name in DIMENSIONS},
        }
        for label in labels
    ]


class Candidate(NamedTuple):
    """A function to time, and a factory of its inputs: fresh objects in every round."""

    function: Callable[[Any], object]
    make_items: Callable[[], list[Any]]


def best_of_rounds(candidates: dict[str, Candidate]) -> dict[str, float]:
    """Microseconds per item of each candidate in its best round; rounds are interleaved."""
    best = dict.fromkeys(candidates, float("inf"))
    with ProgressBar("gate") as bar:
        for round_number in range(ROUNDS):
            bar.update(round_number, ROUNDS)
            for name, (function, make_items) in candidates.items():
                items = make_items()
                start = time.perf_counter()
                for item in items:
                    function(item)
                best[name] = min(best[name], (time.perf_counter() - start) / len(items) * 1e6)
    return best


def speed(title: str, *, non_ascii: bool) -> tuple[Table, list[Limit]]:
    texts = [
        json.dumps(payload, ensure_ascii=False) for payload in corpus(500, non_ascii=non_ascii)
    ]
    schema = jsonschema.Draft202012Validator(TIER["full"].schema)

    def parsed() -> list[Any]:
        return [json.loads(text) for text in texts]

    took = best_of_rounds(
        {
            "gate, parsed": Candidate(lambda payload: crosscheck(payload, "full"), parsed),
            "pydantic, types": Candidate(FullVerdict.model_validate, parsed),
            "pydantic, non-blank": Candidate(StrictFullVerdict.model_validate, parsed),
            "jsonschema": Candidate(schema.is_valid, lambda: parsed()[:50]),
            "gate, text": Candidate(lambda text: crosscheck(text, "full"), lambda: texts),
            "json.loads": Candidate(json.loads, lambda: texts),
        }
    )
    rows = [[name, f"{microseconds:.2f} µs"] for name, microseconds in took.items()]
    table = Table(["", "per verdict"], rows, f"{len(texts[0]):,} characters, {title}")
    bounds = [
        ("gate, parsed", "pydantic, non-blank", 1.0),
        ("gate, parsed", "jsonschema", 0.1),
        ("gate, text", "json.loads", 2.5),
    ]
    if not non_ascii:  # a type check ignores the text; scanning non-ASCII text dominates the gate
        bounds.insert(0, ("gate, parsed", "pydantic, types", 1.0))
    limits = [Limit(f"{a} / {b}, {title}", took[a] / took[b], maximum) for a, b, maximum in bounds]
    return table, limits


def peak_memory(lines: int, folder: Path) -> int:
    """Peak memory in KB of `score_verdict` for a JSONL file of that many verdicts."""
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
        ProgressBar("scoring 200,000 verdicts"),
    ):
        small, large = (peak_memory(lines, Path(name)) for lines in (2_000, 200_000))
    rows = [["2,000 verdicts", f"{small / 1024:.1f} MB"]]
    rows += [["200,000 verdicts", f"{large / 1024:.1f} MB"]]
    limit = Limit("memory of score_verdict, 200,000 / 2,000 verdicts", large / small, 1.1)
    return Table(["score_verdict", "memory"], rows), [limit]


def run() -> Section:
    section = Section("The gate", DESCRIPTION)
    for table, limits in (
        speed("plain ASCII", non_ascii=False),
        speed("typographic apostrophes", non_ascii=True),
        memory(),
    ):
        section.tables.append(table)
        section.limits += limits
    return section


if __name__ == "__main__":
    sys.exit(print_report(run()))
