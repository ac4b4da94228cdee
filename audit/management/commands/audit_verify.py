"""`manage.py audit_verify`: whether oracle_log.jsonl is what the database has on record."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.core.verification import Findings
from audit.log.verify import Busy, Damaged, export_log, repair_log, verify_log
from audit.management.terminal import ProgressBar
from audit.models import LogEntry

FAULTY: Final = 1
NOT_DONE: Final = 2


class Command(BaseCommand):
    help = (
        "Check this host's oracle_log.jsonl, with what rotation put beside it, against its own "
        "hash chain and against the database: altered, forged, moved, doubled and missing lines. "
        "Names the first bad line. Exit code: 0 sound, 1 not sound, 2 it could not be checked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--repair",
            action="store_true",
            help="append what the database has and the end of the file lacks, blank what was "
            "erased and is still there, then check again; nothing else that is there is changed",
        )
        what.add_argument(
            "--export",
            metavar="PATH",
            type=Path,
            help="write the whole record from the database into a new file, and check nothing else",
        )
        parser.add_argument(
            "--host",
            help="with --export: the log of this name (ORACLE_LOG_NAME), not this host's",
        )
        parser.add_argument(
            "--older-elsewhere",
            action="store_true",
            help="older rotated files were archived: begin with the first line that is here",
        )

    def handle(
        self, *, repair: bool, export: Path | None, older_elsewhere: bool, **options: Any
    ) -> str:
        if options["host"] and not export:
            raise CommandError("--host goes with --export.", returncode=NOT_DONE)
        try:
            if export:
                return _export(export, options["host"] or settings.ORACLE_LOG_NAME)
            found = _verify(older_elsewhere=older_elsewhere)
            if repair:
                repair_log(found)
                before, found = found, _verify(older_elsewhere=older_elsewhere)
                self.stdout.write(_done(before, found))
        except Busy:
            why = "The log is being written without a pause: its lock was not to be had. Try again."
            raise CommandError(why, returncode=NOT_DONE) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}", returncode=NOT_DONE) from None
        if older_elsewhere and found.begins:
            note = f"begins with place {found.begins:,} of the record"
            self.stdout.write(f"Note: {note}; what is before it was not looked for.")
        for note in _notes(found, repaired=repair):
            self.stdout.write(note)
        if found.first:
            raise CommandError(_faulty(found, repaired=repair), returncode=FAULTY)
        return f"Sound: {_count(found.lines, 'line')} in {_count(found.files, 'file')}, one chain."


def _verify(*, older_elsewhere: bool) -> Findings:
    with ProgressBar("lines checked") as tick:
        return verify_log(older_elsewhere=older_elsewhere, tick=tick)


def _export(target: Path, host: str) -> str:
    try:
        with ProgressBar("lines written") as tick:
            written = export_log(target, host=host, tick=tick)
    except FileExistsError:
        sentence = f"{target} is there already: nothing is overwritten. Name a new file."
        raise CommandError(sentence, returncode=NOT_DONE) from None
    except Damaged as error:
        raise CommandError(f"Nothing exported. {error}.", returncode=FAULTY) from None
    told = f"{_count(written.lines, 'line')} of {host} written to {target}."
    if written.missing_at:
        at = f"{written.missing_at:,}"
        missing = f"NOT WHOLE: at place {at} of the record something is missing from "
        raise CommandError(
            f"{told}\n{missing}the database. The host's own files may have it.", returncode=FAULTY
        )
    return told


def _done(before: Findings, after: Findings) -> str:
    appended = after.lines - before.lines
    done = [f"appended {_count(appended, 'line')}"] if appended > 0 else []
    if marked := before.unmarked - after.unmarked:
        done.append(f"marked {_count(marked, 'line')} that a crash had left unmarked")
    if blanked := len(before.not_erased) - len(after.not_erased):
        done.append(f"blanked {_count(blanked, 'preview')} that had been erased")
    if len(after.torn) < len(before.torn):
        done.append("put the half line at the end aside (.torn)")
    return f"Repair: {'; '.join(done) or 'there was nothing to append'}."


def _notes(found: Findings, *, repaired: bool) -> Iterator[str]:
    for where in found.torn:
        yield f"Note: {where} is half a line, as a crash leaves it."
    if found.unmarked:
        yield f"Note: {_count(found.unmarked, 'line')} not marked in the database yet."
    waiting = LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count() - found.unmarked
    if waiting > 0:
        means = "see the service log for why" if repaired else "the sweep or --repair writes them"
        yield f"Note: {_count(waiting, 'entry', 'entries')} waiting to be written: {means}."


def _faulty(found: Findings, *, repaired: bool) -> str:
    more = f" ({_count(found.faults, 'fault')} in all)" if found.faults > 1 else ""
    told = f"NOT SOUND. First bad line: {found.first}{more}."
    if repaired:
        return f"{told}\nAppending cannot mend this. --export rebuilds the file from the database."
    if found.cut_after is not None and found.faults == 1:
        return f"{told}\n--repair appends what is missing."
    return told


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
