"""`manage.py audit_verify`: verifies oracle_log.jsonl against its hash chain and the database."""

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
NOT_CHECKED: Final = 2


class Command(BaseCommand):
    help = (
        "Verify this host's oracle_log.jsonl and its rotated files against the hash chain and the "
        "database: finds altered, forged, moved, duplicated and missing lines. Names the first "
        "bad line. Exit code: 0 sound, 1 not sound, 2 could not be checked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--repair",
            action="store_true",
            help="append lines that are missing at the end of the file, blank previews that are "
            "erased in the database, then check again; no other line is changed",
        )
        what.add_argument(
            "--export",
            metavar="PATH",
            type=Path,
            help="write all lines from the database into a new file, without checking this host's",
        )
        parser.add_argument(
            "--host",
            help="with --export: the ORACLE_LOG_NAME of the host to export, if not this one",
        )
        parser.add_argument(
            "--older-elsewhere",
            action="store_true",
            help="older rotated files were archived elsewhere: begin with the first line found",
        )

    def handle(
        self, *, repair: bool, export: Path | None, older_elsewhere: bool, **options: Any
    ) -> str:
        if options["host"] and not export:
            raise CommandError("--host can only be used with --export.", returncode=NOT_CHECKED)
        try:
            if export:
                return _export(export, options["host"] or settings.ORACLE_LOG_NAME)
            found = _verify(older_elsewhere=older_elsewhere)
            if repair:
                repair_log(found)
                before, found = found, _verify(older_elsewhere=older_elsewhere)
                self.stdout.write(_repairs(before, found))
        except Busy:
            why = "Other processes kept the log locked. Try again."
            raise CommandError(why, returncode=NOT_CHECKED) from None
        except OSError as error:
            raise CommandError(
                f"{error.filename}: {error.strerror}", returncode=NOT_CHECKED
            ) from None
        if older_elsewhere and found.begins:
            self.stdout.write(
                f"Note: begins with number {found.begins:,}; earlier lines were not checked."
            )
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
        message = f"{target} already exists and nothing is overwritten. Name a new file."
        raise CommandError(message, returncode=NOT_CHECKED) from None
    except Damaged as error:
        raise CommandError(f"Nothing exported. {error}.", returncode=FAULTY) from None
    summary = f"{_count(written.lines, 'line')} of {host} written to {target}."
    if written.missing_at:
        raise CommandError(
            f"{summary}\nINCOMPLETE: the record does not continue at line number "
            f"{written.missing_at:,} of the database. The host's own files may have the rest.",
            returncode=FAULTY,
        )
    return summary


def _repairs(before: Findings, after: Findings) -> str:
    appended = after.lines - before.lines
    done = [f"appended {_count(appended, 'line')}"] if appended > 0 else []
    if marked := before.unmarked - after.unmarked:
        done.append(f"marked {_count(marked, 'line')} that a crash had left unmarked")
    if blanked := len(before.not_erased) - len(after.not_erased):
        done.append(f"blanked {_count(blanked, 'preview')} that had been erased")
    if len(after.torn) < len(before.torn):
        done.append("moved the incomplete last line to a .torn file")
    return f"Repair: {'; '.join(done) or 'nothing to append'}."


def _notes(found: Findings, *, repaired: bool) -> Iterator[str]:
    for where in found.torn:
        yield f"Note: {where} is incomplete, as after a crash."
    if found.unmarked:
        yield f"Note: {_count(found.unmarked, 'line')} not marked in the database yet."
    waiting = LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count() - found.unmarked
    if waiting > 0:
        hint = "see the service log for why" if repaired else "the sweep or --repair writes them"
        yield f"Note: {_count(waiting, 'entry', 'entries')} waiting to be written: {hint}."


def _faulty(found: Findings, *, repaired: bool) -> str:
    more = f" ({_count(found.faults, 'fault')} in all)" if found.faults > 1 else ""
    summary = f"NOT SOUND. First bad line: {found.first}{more}."
    if repaired:
        return f"{summary}\n--repair cannot fix this. --export rebuilds the file from the database."
    if found.cut_after is not None and found.faults == 1:
        return f"{summary}\n--repair appends what is missing."
    return summary


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
