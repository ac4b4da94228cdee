"""`manage.py calibrate_crosscheck`: what the gate makes of a corpus (CROSSCHECK-GAP-01)."""

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any, Final, TextIO

from django.core.management.base import BaseCommand, CommandError

from audit.core.calibration import BUCKETS, Calibration
from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from audit.core.vocabulary import TIERS
from verdicts.services.labelled import Labelled, labelled

BAD_USAGE: Final = 2
WIDTH: Final = 40

Checked = tuple[str, Any, bool | None]  # tier, output, whether a person would pass it


class Command(BaseCommand):
    help = (
        "Score a corpus as the gate would: distribution, rejections by reason, flags and, where "
        "people have judged, how far they agree. Nothing is stored, logged or changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "corpus",
            nargs="?",
            metavar="CORPUS.jsonl",
            help='one a line: {"tier": ..., "output": ..., "should_pass": true or false, if known};'
            " - is standard input",
        )
        parser.add_argument(
            "--from-reviews",
            action="store_true",
            help="the rejections that staff closed as right or as false, while their text is kept",
        )

    def handle(self, *, corpus: str | None, from_reviews: bool, **_: Any) -> str:
        if bool(corpus) == from_reviews:
            raise CommandError("Name a corpus, or --from-reviews.", returncode=BAD_USAGE)
        found = Calibration()
        told = time.monotonic()
        for tier, output, should_pass in _of_reviews() if from_reviews else _of_file(str(corpus)):
            found.add(crosscheck(output, tier), should_pass)
            if time.monotonic() - told > 0.2:
                told = time.monotonic()
                _show(f"{found.checked:,} checked")
        _show("")
        if not found.checked:
            where = "no review with a text that is still kept" if from_reviews else "no line"
            raise CommandError(f"There is nothing to calibrate by: {where}.", returncode=BAD_USAGE)
        return report(found)


def report(found: Calibration) -> str:
    rejected = found.checked - found.approved
    lines = [f"{found.checked:,} checked: {found.approved:,} approved, {rejected:,} rejected", ""]
    lines += [f"Scores (approved from {OMEGA:.5f})", *_distribution(found), ""]
    for title, counts in (("Rejected because of", found.reasons), ("Flags", found.flags)):
        lines += [title, *(f"  {name:<24} {n:>9,}" for name, n in counts.most_common())]
        lines += ["  none"] * (not counts) + [""]
    return "\n".join([*lines, *_agreement(found)])


def _distribution(found: Calibration) -> Iterator[str]:
    most = max(found.scores.values())
    for place in range(-1, BUCKETS):
        count = found.scores[place]
        if count:
            name = (
                "below 0" if place < 0 else f"{place / BUCKETS:.2f} to {(place + 1) / BUCKETS:.2f}"
            )
            yield f"  {name:<14} {'#' * max(1, count * WIDTH // most):<{WIDTH}} {count:>9,}"


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


def _of_reviews() -> Iterator[Checked]:
    one: Labelled
    for one in labelled():
        yield one.tier, one.output, one.should_pass


def _of_file(name: str) -> Iterator[Checked]:
    try:
        if name == "-":
            yield from _of_lines(sys.stdin)
        else:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 - streamed, like stdin
                yield from _of_lines(file)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name}: {error}", returncode=BAD_USAGE) from None


def _of_lines(file: TextIO) -> Iterator[Checked]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield _read(number, line)


def _read(number: int, line: str) -> Checked:
    try:
        entry = json.loads(line)
        tier, output = entry["tier"], entry["output"]
        should_pass = entry.get("should_pass")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        sentence = 'needs an object with "tier" and "output"'
        raise CommandError(f"Line {number} {sentence}.", returncode=BAD_USAGE) from None
    if tier not in TIERS or should_pass not in (True, False, None):
        sentence = f"needs a tier of {', '.join(TIERS)}, and true or false for should_pass"
        raise CommandError(f"Line {number} {sentence}.", returncode=BAD_USAGE)
    return tier, output, should_pass


def _show(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)  # noqa: T201 - progress
