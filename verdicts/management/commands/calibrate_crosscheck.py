"""`manage.py calibrate_crosscheck`: what the gate makes of a corpus (CROSSCHECK-GAP-01)."""

import os
import stat
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.template.loader import render_to_string

from audit.core.calibration.corpus import CorpusError, Entry, as_line, entries
from audit.core.calibration.summary import Calibration
from audit.core.crosscheck import crosscheck
from audit.core.mutations.kinds import Kind, mutants
from audit.core.mutations.tally import Tally
from audit.core.parsing import parse
from audit.management.calibration_report import report
from audit.management.mutation_report import report as mutation_report
from audit.management.terminal import ProgressBar
from verdicts.core.charts.scores import score_plot
from verdicts.review.reviewed_outputs import labelled

BAD_USAGE: Final = 2
GOOD: Final = settings.BASE_DIR / "audit/data/good_verdicts.jsonl"

Share = Callable[[], float | None]  # how much of the corpus has been read, if that can be told


class Command(BaseCommand):
    help = (
        "Score a corpus as the gate would: distribution, rejections by reason, flags and, where "
        "people have judged, how far they agree. With --mutate: damage good verdicts "
        "systematically, and table what the gate catches and what it lets through. Nothing is "
        "stored or logged, and the mapping is never changed. Exit code: 0, whatever was found; "
        "2 bad usage, or a line that does not fit."
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
        parser.add_argument(
            "--mutate",
            action="store_true",
            help="damage the good verdicts of the corpus, or those that come with the site",
        )
        parser.add_argument(
            "--out",
            metavar="FILE",
            type=Path,
            help="with --mutate: also write what was made, as a labelled corpus, to a new file",
        )
        parser.add_argument(
            "--plot",
            metavar="FILE.svg",
            type=Path,
            help="also draw the distribution of the scores, with the threshold",
        )

    def handle(
        self,
        *,
        corpus: str | None,
        from_reviews: bool,
        mutate: bool,
        out: Path | None,
        plot: Path | None,
        **_: Any,
    ) -> str:
        _check(corpus=corpus, from_reviews=from_reviews, mutate=mutate, out=out, plot=plot)
        found = Calibration()
        with ExitStack() as stack:
            if from_reviews:
                source: Iterator[Entry] = (Entry(*one) for one in labelled())
                share: Share = lambda: None  # noqa: E731 - nobody knows how many there will be
            else:
                source, share = stack.enter_context(_opened(corpus or str(GOOD)))
            if mutate:
                told = _mutate(source, share, found, out)
            else:
                told = _calibrate(source, share, found, from_reviews=from_reviews)
        if plot:
            _draw(plot, found)
            told += f"\n\nThe distribution is drawn in {plot}."
        return told


def _check(
    *, corpus: str | None, from_reviews: bool, mutate: bool, out: Path | None, plot: Path | None
) -> None:
    wrong = ""
    if mutate and from_reviews:
        wrong = "What staff reviewed was rejected: --mutate needs good verdicts."
    elif not mutate and bool(corpus) == from_reviews:
        wrong = "Name a corpus, --from-reviews or --mutate."
    elif out and not mutate:
        wrong = "--out goes with --mutate."
    elif plot and plot.suffix.lower() != ".svg":
        wrong = "--plot writes SVG: end the name in .svg."
    elif plot and not plot.parent.is_dir():
        wrong = f"There is no folder {plot.parent} for the plot."
    if wrong:
        raise CommandError(wrong, returncode=BAD_USAGE)


def _calibrate(
    source: Iterator[Entry], share: Share, found: Calibration, *, from_reviews: bool
) -> str:
    with ProgressBar("checked") as tick:
        for entry in source:
            found.add(crosscheck(entry.output, entry.tier), entry.should_pass)
            tick(found.checked, share())
    if not found.checked:
        where = "no review with a text that is still kept" if from_reviews else "no line"
        raise CommandError(f"There is nothing to calibrate by: {where}.", returncode=BAD_USAGE)
    return report(found)


def _mutate(source: Iterator[Entry], share: Share, found: Calibration, out: Path | None) -> str:
    tallies: dict[Kind, Tally] = {}
    good = left_out = 0
    with _new_file(out) as file, ProgressBar("mutants checked") as tick:
        for tier, output, should_pass in source:
            before, payload = crosscheck(output, tier), parse(output)
            if should_pass is False or not before.approved or before.flags or payload is None:
                left_out += 1
                continue
            good += 1
            for kind, text in mutants(payload, tier):
                decision = crosscheck(text, tier)
                tallies.setdefault(kind, Tally()).add(decision, tier)
                found.add(decision, kind.should_pass)
                if file:
                    file.write(as_line(Entry(tier, text, kind.should_pass), damage=kind.name))
                tick(found.checked, share())
        if not good:
            sentence = f"There is no good verdict to damage: {left_out:,} rejected, flagged or bad."
            raise CommandError(sentence, returncode=BAD_USAGE)
    told = mutation_report(tallies, good=good, left_out=left_out)
    return f"{told}\n\n{found.checked:,} lines written to {out}." if out else told


@contextmanager
def _opened(name: str) -> Iterator[tuple[Iterator[Entry], Share]]:
    """The corpus line by line; what cannot be read is bad usage, whenever it shows."""
    try:
        if name == "-":
            yield entries(sys.stdin), lambda: None
        else:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 - streamed, like stdin
                yield entries(file), _share(file)
    except CorpusError as error:
        raise CommandError(f"{error}.", returncode=BAD_USAGE) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name}: {error}", returncode=BAD_USAGE) from None


def _share(file: TextIO) -> Share:
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode) or not about.st_size:
        return lambda: None
    return lambda: file.buffer.tell() / about.st_size


@contextmanager
def _new_file(target: Path | None) -> Iterator[TextIO | None]:
    """Never over an old one; gone again where something goes wrong."""
    if target is None:
        yield None
        return
    try:
        file = target.open("x", encoding="ascii")
    except FileExistsError:
        sentence = f"{target} is there already: nothing is overwritten. Name a new file."
        raise CommandError(sentence, returncode=BAD_USAGE) from None
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}", returncode=BAD_USAGE) from None
    try:
        with file:
            yield file
    except BaseException:
        target.unlink()
        raise


def _draw(target: Path, found: Calibration) -> None:
    told = f"{found.checked:,} checked, {found.approved:,} approved"
    svg = render_to_string("calibration.svg", {"chart": score_plot(found), "summary": told})
    try:
        target.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}", returncode=BAD_USAGE) from None
