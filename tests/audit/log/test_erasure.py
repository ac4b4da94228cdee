"""Previews are erased in rows and in each host's files, and the chain stays valid."""

import gzip
import os

import pytest
from django.core.management import call_command
from django.db import transaction

from audit.log import erasure, log
from audit.log.erasure import apply_erasures, erase_previews
from audit.models import LogEntry
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked, compared

pytestmark = pytest.mark.django_db(transaction=True)

GONE, KEPT = "cs_test_erasedOne1", "cs_test_keptOne123"


@pytest.fixture(autouse=True)
def _log(log_path):
    """Each test has its own log."""


def append(*sessions):
    with transaction.atomic():
        for one in sessions:
            log.append(checked(one, query=f"secret of {one}"))


def beside(path, suffix):
    return path.with_name(path.name + suffix)


def test_rows_and_lines_are_blanked_and_hashes_are_unchanged(log_path):
    append(GONE, KEPT, GONE)
    log.append(compared(GONE))
    hashes = [line["hash"] for line in read_chain(log_path)]
    assert erase_previews([GONE]) == 2
    assert log.sweep() == 2
    lines = read_chain(log_path)
    assert [line["hash"] for line in lines] == hashes
    previews = [line.get("query_preview") for line in lines]
    assert previews == ["", f"secret of {KEPT}", "", None]
    assert lines[0]["preview_salt"] == ""
    stored = "".join(row.entry + row.salt for row in LogEntry.objects.exclude(erased_at=None))
    assert "secret" not in stored
    call_command("audit_verify")


def test_rotated_compressed_and_torn_files_are_erased_too(log_path):
    append(GONE)
    oldest = log_path.rename(beside(log_path, ".2"))
    packed = beside(log_path, ".2.gz")
    packed.write_bytes(gzip.compress(oldest.read_bytes()))
    oldest.unlink()
    append(GONE, KEPT)
    aside = log_path.rename(beside(log_path, ".1"))
    with aside.open("a") as file:
        file.write(
            f'{{"event":"tmm_crosscheck","session_id":"{GONE}","query_preview":"secret of {GONE}'
        )
    os.utime(aside, (1_000_000, 1_000_000))
    aside.chmod(0o600)
    beside(log_path, ".torn").write_text(f"secret of {GONE}\n")
    append(GONE)
    erase_previews([GONE])
    log.sweep()
    files = [gzip.decompress(packed.read_bytes()).decode(), aside.read_text(), log_path.read_text()]
    assert f"secret of {GONE}" not in "".join(files)
    assert f"secret of {KEPT}" in files[1]
    assert not beside(log_path, ".torn").exists()
    assert (aside.stat().st_mtime, aside.stat().st_mode & 0o777) == (1_000_000, 0o600)
    assert [one.name for one in log_path.parent.iterdir() if "erasing" in one.name] == []
    call_command("audit_verify")


def test_each_host_erases_its_own_file(log_path, settings):
    append(GONE)
    there = log_path.with_name("there.jsonl")
    settings.ORACLE_LOG_NAME, settings.ORACLE_LOG_PATH = "there", there
    append(GONE)
    erase_previews([GONE])
    log.sweep()
    assert "secret" not in there.read_text()
    assert "secret" in log_path.read_text()
    settings.ORACLE_LOG_NAME, settings.ORACLE_LOG_PATH = "here", log_path
    assert log.sweep() == 1
    assert "secret" not in log_path.read_text()
    assert not LogEntry.objects.filter(erased_in_file_at=None).exists()


def test_a_pending_line_is_written_with_a_blank_preview(log_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "flush", lambda: 0)
        append(GONE)
    erase_previews([GONE])
    log.sweep()
    assert read_chain(log_path)[0]["query_preview"] == ""


def test_a_restored_line_stays_erased(log_path):
    append(KEPT, GONE)
    erase_previews([GONE])
    log.sweep()
    log_path.write_text(log_path.read_text().splitlines(keepends=True)[0])
    log.sweep()
    assert read_chain(log_path)[1]["query_preview"] == ""


def test_audit_verify_reports_an_erased_preview_that_is_still_in_the_file(log_path, capsys):
    append(GONE)
    erase_previews([GONE])
    with pytest.raises(Exception, match="erased in the database, but not in the file"):
        call_command("audit_verify")
    call_command("audit_verify", "--repair")


def test_a_damaged_archive_is_reported_and_retried_and_blocks_no_other_file(log_path, caplog):
    append(*[KEPT] * 40, GONE)
    whole = gzip.compress(log_path.read_bytes())
    packed = beside(log_path, ".1.gz")
    packed.write_bytes(whole[: len(whole) // 2])
    log_path.unlink()
    append(GONE)
    erase_previews([GONE])
    log.sweep()
    assert "secret" not in log_path.read_text()
    assert "still in the log files" in caplog.text
    assert LogEntry.objects.to_erase("here").count() == 2
    packed.unlink()
    log.sweep()
    assert LogEntry.objects.to_erase("here").count() == 0


def test_nothing_to_erase_costs_one_query(log_path, django_assert_num_queries):
    append(KEPT)
    with django_assert_num_queries(1):
        assert apply_erasures() == 0


def test_many_sessions_are_found(log_path):
    sessions = [f"cs_test_many{number:05}" for number in range(120)]
    append(*sessions, KEPT)
    assert erase_previews(sessions) == 120
    assert erase_previews(sessions) == 0


def test_another_customers_preview_that_quotes_an_erased_session_is_kept(log_path):
    append(GONE)
    log.append(checked(KEPT, query=f"Was the verdict {GONE} right?"))
    erase_previews([GONE])
    log.sweep()
    assert [one["query_preview"] for one in read_chain(log_path)] == [
        "",
        f"Was the verdict {GONE} right?",
    ]
    call_command("audit_verify")


def test_a_foreign_line_keeps_no_preview_and_blocks_no_other_line(log_path):
    append(GONE, KEPT)
    forged = f'{{"session_id":"{GONE}","query_preview":"secret of {GONE}","n":NaN}}\n'
    log_path.write_text(forged + log_path.read_text())
    erase_previews([GONE])
    log.sweep()
    assert f"secret of {GONE}" not in log_path.read_text()
    assert f"secret of {KEPT}" in log_path.read_text()
    assert LogEntry.objects.to_erase("here").count() == 0


def test_an_unreadable_file_blocks_no_other_file(log_path, monkeypatch, caplog):
    append(GONE)
    log_path.rename(beside(log_path, ".1.gz"))
    append(GONE)

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(erasure.gzip, "open", refuse)
    erase_previews([GONE])
    log.sweep()
    assert "secret" not in log_path.read_text()
    assert "oracle_log.jsonl.1.gz: Permission denied" in caplog.text
    assert LogEntry.objects.to_erase("here").count() == 2


@pytest.mark.parametrize("when", ["while it is read", "after it was listed"])
def test_a_rotation_during_the_erasure_keeps_no_preview(log_path, monkeypatch, when):
    append(GONE, KEPT)
    aside = beside(log_path, ".1")

    def rotate(then):
        def first(*arguments):
            found = then(*arguments)
            if not aside.exists():
                log_path.rename(aside)  # logrotate does not take our lock
                log_path.touch()
            return found

        return first

    if when == "while it is read":
        monkeypatch.setattr(erasure.os, "fsync", rotate(os.fsync))
    else:
        monkeypatch.setattr(erasure, "rotated", rotate(erasure.rotated))
    erase_previews([GONE])
    log.sweep()
    assert f"secret of {GONE}" not in aside.read_text() + log_path.read_text()
    assert len(aside.read_text().splitlines()) == 2
    assert log_path.read_text() == ""
    call_command("audit_verify")


def test_repair_erases_a_preview_that_came_back(log_path, capsys):
    append(GONE, KEPT)
    before = log_path.read_bytes()
    erase_previews([GONE])
    log.sweep()
    log_path.write_bytes(before)  # a copy, made before the erasure
    with pytest.raises(Exception, match="erased in the database, but not in the file"):
        call_command("audit_verify")
    call_command("audit_verify", "--repair")
    assert "Repair: blanked 1 preview that had been erased." in capsys.readouterr().out
    assert f"secret of {GONE}" not in log_path.read_text()


def test_a_draft_is_private_and_one_of_a_killed_process_is_removed(log_path, monkeypatch):
    append(GONE, KEPT)
    log_path.chmod(0o640)
    left = log_path.with_name(f".{log_path.name}.1.erasing")
    left.write_text(f"secret of {GONE}")
    modes = []

    def look(_fd):
        drafts = log_path.parent.glob(".*.erasing")
        modes.extend(one.stat().st_mode & 0o777 for one in drafts)

    monkeypatch.setattr(erasure.os, "fsync", look)
    erase_previews([GONE])
    log.sweep()
    assert modes == [0o600]
    assert log_path.stat().st_mode & 0o777 == 0o640
    assert not left.exists()
