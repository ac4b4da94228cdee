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


def test_nothing_yet_is_sound(audit):
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
    """Changed by somebody who knows how a hash is made, up to the last line."""
    prev = chain.parse(lines[1])["hash"]
    for place, line in enumerate(lines[2:], start=2):
        fields = chain.parse(line)
        entry = {key: fields[key] for key in fields if key not in chain.RESERVED}
        sealed = chain.seal(
            {**entry, "tier": "full"},
            entry_id=fields["id"],
            salt=fields["preview_salt"],
            commitment=fields["preview_commitment"],
            prev=prev,
        )
        lines[place], prev = sealed.line, sealed.hash


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


def doubled(lines):
    lines.insert(2, lines[1])


def garbage(lines):
    lines.insert(2, "garbage\n")


def endless(lines):
    lines.insert(2, "x" * (3 * verify.MAX_LINE_BYTES + 5) + "\n")


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (altered, "hash does not fit the line"),
        (resealed, "not the line that was recorded"),
        (forged, "not in the database"),
        (blanked, "its preview is blank, though the database has it"),
        (preview_changed, "preview does not fit its commitment"),
        (swapped, "1 line is missing before it, from place 3 of the record on"),
        (removed, "1 line is missing before it, from place 3 of the record on"),
        (doubled, "out of order, or there twice"),
        (garbage, "not a JSON object"),
        (endless, "not a JSON object"),
    ],
)
def test_the_first_bad_line_is_named(audit, log_path, damage, what):
    append(5)
    lines = lines_of(log_path)
    damage(lines)
    rewrite(log_path, lines)
    code, said = audit()
    assert code == 1
    assert f"First bad line: oracle_log.jsonl line 3: {what}" in said


@pytest.mark.parametrize("damage", [altered, forged, blanked, removed, garbage, preview_changed])
def test_a_fault_is_counted_once(audit, log_path, damage):
    append(5)
    lines = lines_of(log_path)
    damage(lines)
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
    code, said = audit()
    assert code == 1
    assert re.search(r"First bad line: oracle_log.jsonl.1.gz line \d+: not a JSON object", said)


def test_a_row_that_was_altered_in_the_database_is_told_from_an_altered_line(audit):
    append(3)
    row = LogEntry.objects.get(sequence=2)
    entry = {**json.loads(row.entry), "approved": False}
    LogEntry.objects.filter(pk=row.pk).update(entry=json.dumps(entry, separators=(",", ":")))
    code, said = audit()
    assert code == 1
    assert "line 2: its row in the database was altered" in said


def test_a_row_gone_from_the_database_is_found_by_its_line(audit):
    append(3)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_logentry WHERE sequence = 2")
    code, said = audit()
    assert code == 1
    assert "line 2: not in the database" in said


def test_a_line_of_another_host_is_told(audit, log_path, settings):
    append(2)
    mine = log_path.read_text()
    settings.ORACLE_LOG_NAME = "there"
    settings.ORACLE_LOG_PATH = log_path.with_name("there.jsonl")
    append(1)
    with settings.ORACLE_LOG_PATH.open("a") as file:
        file.write(mine)
    assert "there.jsonl line 2: belongs to another host's log" in audit()[1]


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_file_cut_short_fails_and_is_repaired_byte_for_byte(audit, log_path, kept):
    append(4)
    whole = log_path.read_bytes()
    rewrite(log_path, lines_of(log_path)[:kept])
    code, said = audit()
    assert code == 1
    assert f"{4 - kept} line{' is' if kept == 3 else 's are'} missing at the end" in said
    assert "--repair appends what is missing" in said
    appended = "1 line" if kept == 3 else f"{4 - kept} lines"
    assert audit("--repair") == (
        0,
        f"Repair: appended {appended}.\nSound: 4 lines in 1 file, one chain.\n",
    )
    assert log_path.read_bytes() == whole


def test_a_file_that_is_gone_is_put_back_after_its_rotated_ones(audit, log_path, monkeypatch):
    monkeypatch.setattr(writer, "BATCH", 2)
    append(2)
    rotate(log_path, ".1")
    append(5)
    log_path.unlink()
    assert audit()[0] == 1
    code, said = audit("--repair")
    assert (code, said.splitlines()[0]) == (0, "Repair: appended 5 lines.")
    append(1)
    assert audit()[0] == 0


def test_a_gap_cannot_be_repaired_by_appending_and_nothing_is_changed(audit, log_path):
    append(4)
    lines = lines_of(log_path)
    removed(lines)
    rewrite(log_path, lines)
    before = log_path.read_bytes()
    code, said = audit("--repair")
    assert code == 1
    assert "Repair: there was nothing to append." in said
    assert "--export rebuilds" in said
    assert log_path.read_bytes() == before


def test_what_waits_is_no_fault_and_repair_writes_it(audit, log_path):
    append(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "flush", lambda: 0)
        append(2)
    code, said = audit()
    assert code == 0
    assert "Note: 2 entries waiting to be written: the sweep or --repair writes them." in said
    assert "appended 2 lines" in audit("--repair")[1]
    assert len(lines_of(log_path)) == 3


def test_what_a_crash_leaves_is_noted_and_repaired(audit, log_path):
    append(1)
    append_and_crash(2)
    with log_path.open("a") as file:
        file.write('{"event":"torn')
    code, said = audit()
    assert code == 0
    assert "oracle_log.jsonl line 4 is half a line" in said
    assert "2 lines not marked in the database yet" in said
    code, said = audit("--repair")
    assert code == 0
    assert "marked 2 lines" in said
    assert "put the half line" in said


def test_archived_files_are_missed_unless_it_is_said(audit, log_path):
    append(3)
    rotate(log_path, ".1").unlink()
    append(2)
    code, said = audit()
    assert code == 1
    assert "oracle_log.jsonl line 1: 3 lines are missing before it" in said
    code, said = audit("--older-elsewhere")
    assert code == 0
    assert said.splitlines() == [
        "Note: begins with place 4 of the record; what is before it was not looked for.",
        "Sound: 2 lines in 1 file, one chain.",
    ]


@pytest.mark.parametrize("wipe", ["unlinked", "emptied"])
def test_a_log_that_was_wiped_is_not_elsewhere(audit, log_path, wipe):
    append(3)
    if wipe == "unlinked":
        log_path.unlink()
    else:
        log_path.write_bytes(b"")
    code, said = audit("--older-elsewhere")
    assert code == 1
    assert "no file: no line of the record is here, and it has 3" in said
    assert audit("--older-elsewhere", "--repair")[0] == 1
    assert not log_path.exists() or not log_path.read_text()
    assert audit("--repair")[0] == 0


def test_a_line_forged_for_an_entry_that_waits_is_told(audit, log_path, monkeypatch):
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
    code, said = audit()
    assert code == 1
    assert "line 2: not the line that its row in the database gives" in said


def test_a_lock_that_cannot_be_had_is_told(audit, log_path, monkeypatch):
    monkeypatch.setattr(log, "SWEEP_LOCK_TIMEOUT", 0.01)
    with locked(log_path, 0):
        code, said = audit()
    assert code == 2
    assert "Try again" in said


def test_a_missing_folder_is_told(audit, settings, tmp_path):
    settings.ORACLE_LOG_PATH = tmp_path / "unmounted" / "oracle_log.jsonl"
    assert audit()[0] == 2


def test_lines_written_meanwhile_do_not_disturb_the_walk(audit, monkeypatch):
    append(3)
    examine = verify.examine

    def meanwhile(*arguments, **options):
        append(2)
        return examine(*arguments, **options)

    monkeypatch.setattr(verify, "examine", meanwhile)
    assert audit() == (0, "Sound: 3 lines in 1 file, one chain.\n")
