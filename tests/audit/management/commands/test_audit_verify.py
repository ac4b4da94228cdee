import gzip
import json
import re

import pytest
from django.db import OperationalError, connection

from audit.core import chain
from audit.log import log, verify, writer
from audit.log.file import locked
from audit.models import LogEntry
from tests.support.log_entries import compared
from tests.support.log_lines import append, lines_of, rotate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _log(log_path):
    """A log of its own for each test."""


def append_and_crash(count):
    def crash(_lines):
        raise OperationalError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "mark", crash)
        append(count)


def rewrite(path, lines):
    path.write_text("".join(lines))


def test_a_sound_log_passes(audit, log_path):
    append(3)
    assert audit() == (0, "Sound: 3 lines in 1 file, one chain.\n")


def test_an_empty_log_is_sound(audit):
    assert audit() == (0, "Sound: 0 lines in 0 files, one chain.\n")


def test_the_chain_is_followed_across_rotated_files(audit, log_path):
    append(2)
    oldest = rotate(log_path, ".2")
    append(2)
    rotate(log_path, ".1")
    append(2)
    oldest.with_name(oldest.name + ".gz").write_bytes(gzip.compress(oldest.read_bytes()))
    oldest.unlink()
    assert audit() == (0, "Sound: 6 lines in 3 files, one chain.\n")


def altered(lines):
    lines[2] = lines[2].replace('"approved":true', '"approved":false')


def resealed(lines):
    """Tampered with by an attacker who recomputes all hashes up to the last line."""
    prev = chain.parse(lines[1])["hash"]
    for index, line in enumerate(lines[2:], start=2):
        fields = chain.parse(line)
        entry = {key: fields[key] for key in fields if key not in chain.RESERVED}
        sealed = chain.seal(
            {**entry, "tier": "full"},
            entry_id=fields["id"],
            salt=fields["preview_salt"],
            commitment=fields["preview_commitment"],
            prev=prev,
        )
        lines[index], prev = sealed.line, sealed.hash


def forged(lines):
    prev = chain.parse(lines[1])["hash"]
    line = chain.seal(compared(), entry_id="f" * 32, salt="", commitment="", prev=prev).line
    lines.insert(2, line)


def blanked(lines):
    lines[2] = chain.erase_preview(lines[2])


def preview_changed(lines):
    lines[2] = lines[2].replace("Should I?", "Should he?")


def swapped(lines):
    lines[2], lines[3] = lines[3], lines[2]


def removed(lines):
    del lines[2]


def duplicated(lines):
    lines.insert(2, lines[1])


def garbage(lines):
    lines.insert(2, "garbage\n")


def oversized(lines):
    lines.insert(2, "x" * (3 * verify.MAX_LINE_BYTES + 5) + "\n")


@pytest.mark.parametrize(
    ("tamper", "fault"),
    [
        (altered, "hash does not match the line"),
        (resealed, "not the recorded line"),
        (forged, "not in the database"),
        (blanked, "its preview is blank, but not in the database"),
        (preview_changed, "preview does not match its commitment"),
        (swapped, "1 line is missing before it, from number 3 on"),
        (removed, "1 line is missing before it, from number 3 on"),
        (duplicated, "out of order, or duplicated"),
        (garbage, "not a JSON object"),
        (oversized, "not a JSON object"),
    ],
)
def test_the_first_bad_line_is_named(audit, log_path, tamper, fault):
    append(5)
    lines = lines_of(log_path)
    tamper(lines)
    rewrite(log_path, lines)
    code, output = audit()
    assert code == 1
    assert f"First bad line: oracle_log.jsonl line 3: {fault}" in output


@pytest.mark.parametrize("tamper", [altered, forged, blanked, removed, garbage, preview_changed])
def test_a_fault_is_counted_once(audit, log_path, tamper):
    append(5)
    lines = lines_of(log_path)
    tamper(lines)
    rewrite(log_path, lines)
    assert "in all" not in audit()[1]


def test_a_bad_line_in_a_rotated_file_is_named_by_that_file(audit, log_path):
    append(3)
    aside = rotate(log_path, "-20260416")
    append(3)
    lines = lines_of(aside)
    altered(lines)
    rewrite(aside, lines)
    assert "oracle_log.jsonl-20260416 line 3: hash" in audit()[1]


def test_a_damaged_archive_is_named(audit, log_path):
    append(50)
    whole = gzip.compress(log_path.read_bytes())
    log_path.with_name(log_path.name + ".1.gz").write_bytes(whole[: len(whole) // 2])
    log_path.unlink()
    append(1)
    code, output = audit()
    assert code == 1
    assert re.search(r"First bad line: oracle_log.jsonl.1.gz line \d+: not a JSON object", output)


def test_an_altered_row_is_distinguished_from_an_altered_line(audit):
    append(3)
    row = LogEntry.objects.get(sequence=2)
    entry = {**json.loads(row.entry), "approved": False}
    LogEntry.objects.filter(pk=row.pk).update(entry=json.dumps(entry, separators=(",", ":")))
    code, output = audit()
    assert code == 1
    assert "line 2: its row in the database was altered" in output


def test_a_row_deleted_from_the_database_is_found_by_its_line(audit):
    append(3)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_logentry WHERE sequence = 2")
    code, output = audit()
    assert code == 1
    assert "line 2: not in the database" in output


def test_a_line_of_another_host_is_reported(audit, log_path, settings):
    append(2)
    mine = log_path.read_text()
    settings.ORACLE_LOG_NAME = "there"
    settings.ORACLE_LOG_PATH = log_path.with_name("there.jsonl")
    append(1)
    with settings.ORACLE_LOG_PATH.open("a") as file:
        file.write(mine)
    assert "there.jsonl line 2: belongs to another host's log" in audit()[1]


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_truncated_file_fails_and_is_repaired_byte_for_byte(audit, log_path, kept):
    append(4)
    whole = log_path.read_bytes()
    rewrite(log_path, lines_of(log_path)[:kept])
    code, output = audit()
    assert code == 1
    assert f"{4 - kept} line{' is' if kept == 3 else 's are'} missing at the end" in output
    assert "--repair appends what is missing" in output
    appended = "1 line" if kept == 3 else f"{4 - kept} lines"
    assert audit("--repair") == (
        0,
        f"Repair: appended {appended}.\nSound: 4 lines in 1 file, one chain.\n",
    )
    assert log_path.read_bytes() == whole


def test_a_deleted_file_is_repaired_after_its_rotated_ones(audit, log_path, monkeypatch):
    monkeypatch.setattr(writer, "BATCH", 2)
    append(2)
    rotate(log_path, ".1")
    append(5)
    log_path.unlink()
    assert audit()[0] == 1
    code, output = audit("--repair")
    assert (code, output.splitlines()[0]) == (0, "Repair: appended 5 lines.")
    append(1)
    assert audit()[0] == 0


def test_a_line_missing_in_the_middle_cannot_be_repaired(audit, log_path):
    append(4)
    lines = lines_of(log_path)
    removed(lines)
    rewrite(log_path, lines)
    before = log_path.read_bytes()
    code, output = audit("--repair")
    assert code == 1
    assert "Repair: nothing to append." in output
    assert "--export rebuilds" in output
    assert log_path.read_bytes() == before


def test_pending_entries_are_no_fault_and_repair_writes_them(audit, log_path):
    append(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "flush", lambda: 0)
        append(2)
    code, output = audit()
    assert code == 0
    assert "Note: 2 entries waiting to be written: the sweep or --repair writes them." in output
    assert "appended 2 lines" in audit("--repair")[1]
    assert len(lines_of(log_path)) == 3


def test_the_remains_of_a_crash_are_noted_and_repaired(audit, log_path):
    append(1)
    append_and_crash(2)
    with log_path.open("a") as file:
        file.write('{"event":"torn')
    code, output = audit()
    assert code == 0
    assert "oracle_log.jsonl line 4 is incomplete" in output
    assert "2 lines not marked in the database yet" in output
    code, output = audit("--repair")
    assert code == 0
    assert "marked 2 lines" in output
    assert "moved the incomplete last line" in output


def test_archived_files_are_missing_unless_declared_elsewhere(audit, log_path):
    append(3)
    rotate(log_path, ".1").unlink()
    append(2)
    code, output = audit()
    assert code == 1
    assert "oracle_log.jsonl line 1: 3 lines are missing before it" in output
    code, output = audit("--older-elsewhere")
    assert code == 0
    assert output.splitlines() == [
        "Note: begins with number 4; earlier lines were not checked.",
        "Sound: 2 lines in 1 file, one chain.",
    ]


@pytest.mark.parametrize("wipe", ["unlinked", "emptied"])
def test_a_wiped_log_is_a_fault_even_with_older_elsewhere(audit, log_path, wipe):
    append(3)
    if wipe == "unlinked":
        log_path.unlink()
    else:
        log_path.write_bytes(b"")
    code, output = audit("--older-elsewhere")
    assert code == 1
    assert "no file: no recorded line found, but the database has 3" in output
    assert audit("--older-elsewhere", "--repair")[0] == 1
    assert not log_path.exists() or not log_path.read_text()
    assert audit("--repair")[0] == 0


def test_a_line_forged_for_a_pending_entry_is_reported(audit, log_path, monkeypatch):
    append(1)
    with monkeypatch.context() as patch:
        patch.setattr(log, "flush", lambda: 0)
        append(1)
    row = LogEntry.objects.pending("here").get()
    forged = chain.seal(
        {**json.loads(row.entry), "approved": False},
        entry_id=row.public_id,
        salt=row.salt,
        commitment=row.commitment,
        prev=json.loads(log_path.read_text())["hash"],
    )
    with log_path.open("a") as file:
        file.write(forged.line)
    code, output = audit()
    assert code == 1
    assert "line 2: not the line that its row in the database gives" in output


def test_a_lock_timeout_is_reported(audit, log_path, monkeypatch):
    monkeypatch.setattr(log, "SWEEP_LOCK_TIMEOUT", 0.01)
    with locked(log_path, 0):
        code, output = audit()
    assert code == 2
    assert "Try again" in output


def test_a_missing_directory_is_reported(audit, settings, tmp_path):
    settings.ORACLE_LOG_PATH = tmp_path / "unmounted" / "oracle_log.jsonl"
    assert audit()[0] == 2


def test_lines_written_during_the_verification_are_not_checked(audit, monkeypatch):
    append(3)
    examine = verify.examine

    def append_first(*arguments, **options):
        append(2)
        return examine(*arguments, **options)

    monkeypatch.setattr(verify, "examine", append_first)
    assert audit() == (0, "Sound: 3 lines in 1 file, one chain.\n")
