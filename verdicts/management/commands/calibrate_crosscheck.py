"""`manage.py calibrate_crosscheck`: scores a corpus with the gate (CROSSCHECK-GAP-01)."""

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

from audit.core.calibration.corpus import CorpusError, Entry, read_entries, to_line
from audit.core.calibration.summary import Calibration
from audit.core.crosscheck import crosscheck
from audit.core.mutations.kinds import Kind, mutants
from audit.core.mutations.tally import Tally
from audit.core.parsing import parse
from audit.management.calibration_report import report
from audit.management.mutation_report import report as mutation_report
from audit.management.terminal import ProgressBar
from verdicts.core.charts.scores import score_chart
from verdicts.review.reviewed_outputs import reviewed_outputs

BAD_USAGE: Final = 2
GOOD: Final = settings.BASE_DIR / "audit/data/good_verdicts.jsonl"

Share = Callable[[], float | None]  # share of the corpus that has been read, if known


class Command(BaseCommand):
    help = (
        "Score a corpus with the gate: distribution, rejections by reason, flags and, for labelled "
        "entries, the agreement. With --mutate: damage good verdicts systematically, and show "
        "which mutations the gate catches and which it lets through. Nothing is stored or logged, "
        "and the score mapping is never changed. Exit code: 0 done, whatever the result; 2 bad "
        "usage or an invalid line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "corpus",
            nargs="?",
            metavar="CORPUS.jsonl",
            help='one entry per line: {"tier": ..., "output": ..., "should_pass": true or false, '
            "if known}; - is standard input",
        )
        parser.add_argument(
            "--from-reviews",
            action="store_true",
            help="use the rejections that staff closed as correct or as false, while their text "
            "is retained",
        )
        parser.add_argument(
            "--mutate",
            action="store_true",
            help="mutate the good verdicts of the corpus (default: those included in the product)",
        )
        parser.add_argument(
            "--out",
            metavar="FILE",
            type=Path,
            help="with --mutate: also write the mutants, as a labelled corpus, to a new file",
        )
        parser.add_argument(
            "--plot",
            metavar="FILE.svg",
            type=Path,
            help="also draw the score distribution, with the threshold",
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
                source: Iterator[Entry] = (Entry(*one) for one in reviewed_outputs())
                share: Share = lambda: None  # noqa: E731 - their number is unknown
            else:
                source, share = stack.enter_context(_opened(corpus or str(GOOD)))
            if mutate:
                text = _mutate(source, share, found, out)
            else:
                text = _calibrate(source, share, found, from_reviews=from_reviews)
        if plot:
            _draw(plot, found)
            text += f"\n\nThe distribution is drawn in {plot}."
        return text


def _check(
    *, corpus: str | None, from_reviews: bool, mutate: bool, out: Path | None, plot: Path | None
) -> None:
    error = ""
    if mutate and from_reviews:
        error = "Reviewed outputs were rejected: --mutate needs good verdicts."
    elif not mutate and bool(corpus) == from_reviews:
        error = "Name a corpus, --from-reviews or --mutate."
    elif out and not mutate:
        error = "--out needs --mutate."
    elif plot and plot.suffix.lower() != ".svg":
        error = "--plot writes SVG: the file name must end in .svg."
    elif plot and not plot.parent.is_dir():
        error = f"The directory {plot.parent} of the plot does not exist."
    if error:
        raise CommandError(error, returncode=BAD_USAGE)


def _calibrate(
    source: Iterator[Entry], share: Share, found: Calibration, *, from_reviews: bool
) -> str:
    with ProgressBar("checked") as tick:
        for entry in source:
            found.add(crosscheck(entry.output, entry.tier), entry.should_pass)
            tick(found.checked, share())
    if not found.checked:
        reason = "no review whose text is still retained" if from_reviews else "no line"
        raise CommandError(f"There is nothing to calibrate with: {reason}.", returncode=BAD_USAGE)
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
            for kind, mutant in mutants(payload, tier):
                decision = crosscheck(mutant, tier)
                tallies.setdefault(kind, Tally()).add(decision, tier)
                found.add(decision, kind.should_pass)
                if file:
                    file.write(to_line(Entry(tier, mutant, kind.should_pass), mutation=kind.name))
                tick(found.checked, share())
        if not good:
            sentence = f"There is no good verdict to mutate: {left_out:,} rejected, flagged or bad."
            raise CommandError(sentence, returncode=BAD_USAGE)
    text = mutation_report(tallies, good=good, left_out=left_out)
    return f"{text}\n\n{found.checked:,} lines written to {out}." if out else text


@contextmanager
def _opened(name: str) -> Iterator[tuple[Iterator[Entry], Share]]:
    """The corpus, line by line. Read errors become CommandErrors, also inside the block."""
    try:
        if name == "-":
            yield read_entries(sys.stdin), lambda: None
        else:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 - streamed, like stdin
                yield read_entries(file), _share(file)
    except CorpusError as error:
        raise CommandError(f"{error}.", returncode=BAD_USAGE) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{name}: {error}", returncode=BAD_USAGE) from None


def _share(file: TextIO) -> Share:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return lambda: None
    return lambda: file.buffer.tell() / status.st_size


@contextmanager
def _new_file(target: Path | None) -> Iterator[TextIO | None]:
    """Never overwrites a file; deletes the new file on an error."""
    if target is None:
        yield None
        return
    try:
        file = target.open("x", encoding="ascii")
    except FileExistsError:
        sentence = f"{target} already exists and is not overwritten. Name a new file."
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
    summary = f"{found.checked:,} checked, {found.approved:,} approved"
    svg = render_to_string("calibration.svg", {"chart": score_chart(found), "summary": summary})
    try:
        target.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}", returncode=BAD_USAGE) from None
