"""A Calibration as lines for a terminal.

Pure: no I/O, no clock, no Django.
"""

from collections.abc import Iterator
from typing import Final

from audit.core.calibration.summary import EDGES, Calibration
from audit.core.tmm import OMEGA

WIDTH: Final = 40


def report(found: Calibration) -> str:
    rejected = found.checked - found.approved
    lines = [f"{found.checked:,} checked: {found.approved:,} approved, {rejected:,} rejected", ""]
    lines += [f"Scores (approved from {OMEGA:.5f})", *distribution(found), ""]
    for title, counts in (("Rejected because of", found.reasons), ("Flags", found.flags)):
        lines += [title, *(f"  {name:<24} {n:>9,}" for name, n in counts.most_common())]
        lines += ["  none"] * (not counts) + [""]
    return "\n".join([*lines, *_agreement(found)])


def distribution(found: Calibration) -> Iterator[str]:
    counts = found.distribution
    most = max(counts.values())
    for place in sorted(counts):
        bar = "#" * max(1, counts[place] * WIDTH // most)
        yield f"  {_name(place):<15} {bar:<{WIDTH}} {counts[place]:>9,}"


def _name(place: int) -> str:
    if place < 0:
        return "below 0"
    begin, end = (*EDGES, 1.0)[place : place + 2]
    return f"{_edge(begin)} to {_edge(end)}"


def _edge(score: float) -> str:
    return f"{score:.5f}" if score == OMEGA else f"{score:.2f}"


def _agreement(found: Calibration) -> Iterator[str]:
    if not found.labelled:
        yield "No labels: nobody has said what should have passed."
        return
    of = found.agreement
    yield f"{'A person says':<24} {'gate approves':>15} {'gate rejects':>15}"
    yield f"{'  should pass':<24} {of[True, True]:>15,} {of[True, False]:>15,}"
    yield f"{'  should not':<24} {of[False, True]:>15,} {of[False, False]:>15,}"
    agreed = of[True, True] + of[False, False]
    yield f"They agree on {agreed:,} of {found.labelled:,} ({agreed / found.labelled:.1%})."
