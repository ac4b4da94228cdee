"""Formats the report of a calibration run."""

from collections.abc import Collection, Iterator, Sequence
from textwrap import indent
from typing import Final

from audit.core.calibration.summary import BUCKET_EDGES, Calibration
from audit.core.tmm import OMEGA
from audit.management.terminal import render_table

WIDTH: Final = 40


def report(found: Calibration) -> str:
    rejected = found.checked - found.approved
    lines = [f"{found.checked:,} checked: {found.approved:,} approved, {rejected:,} rejected", ""]
    lines += [f"Scores (approved from {OMEGA:.5f})", _distribution(found), ""]
    for title, counts in (("Reasons for rejection", found.reasons), ("Flags", found.flags)):
        rows = [(name, f"{count:,}") for name, count in counts.most_common()]
        lines += [title, _indented(rows, right={1}) if rows else "  none", ""]
    return "\n".join([*lines, *_agreement(found)])


def _indented(rows: Sequence[Sequence[str]], *, right: Collection[int]) -> str:
    return indent(render_table([""] * len(rows[0]), rows, right=right), "  ")


def _distribution(found: Calibration) -> str:
    counts = found.distribution
    largest = max(counts.values())
    rows = [
        (_name(at), "#" * max(1, counts[at] * WIDTH // largest), f"{counts[at]:,}")
        for at in sorted(counts)
    ]
    return _indented(rows, right={2})


def _name(at: int) -> str:
    if at < 0:
        return "below 0"
    begin, end = (*BUCKET_EDGES, 1.0)[at : at + 2]
    return f"{_edge(begin)} to {_edge(end)}"


def _edge(score: float) -> str:
    return f"{score:.5f}" if score == OMEGA else f"{score:.2f}"


def _agreement(found: Calibration) -> Iterator[str]:
    if not found.reviewed:
        yield "No reviews: no line of the corpus has should_pass."
        return
    of = found.agreement
    rows = [
        (name, f"{of[label, True]:,}", f"{of[label, False]:,}")
        for name, label in (("should pass", True), ("should not", False))
    ]
    yield render_table(("Reviewer", "gate approves", "gate rejects"), rows, right={1, 2})
    agreed = of[True, True] + of[False, False]
    yield f"They agree on {agreed:,} of {found.reviewed:,} ({agreed / found.reviewed:.1%})."
