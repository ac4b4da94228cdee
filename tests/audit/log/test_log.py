"""The log's interface, with real files and real commits."""

import json
import logging
import shutil

import pytest
from django.db import OperationalError, transaction

from audit.core.chain import erase_preview
from audit.core.redaction import short_hash
from audit.log import log
from audit.log.file import locked
from audit.log.reader import find_original
from audit.log_context import log_session
from audit.models import LogEntry
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked, compared
from tests.support.service_log import listening

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_line_is_written_after_its_commit(log_path):
    with transaction.atomic():
        row = log.append(checked())
        assert not log_path.exists()
    (line,) = read_chain(log_path)
    row.refresh_from_db()
    assert line["id"] == row.public_id
    assert (row.sequence, row.prev, row.hash) == (1, line["prev"], line["hash"])
    assert row.written_at is not None


def test_a_rollback_leaves_no_row_and_no_line(log_path):
    def fail():
        with transaction.atomic():
            log.append(checked())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert log.sweep() == 0
    assert not LogEntry.objects.exists()
    assert read_chain(log_path) == []


def test_inside_a_transaction_nothing_is_written(log_path):
    with transaction.atomic():
        log.append(checked())
        assert log.flush() == log.sweep() == 0
        assert not log_path.exists()


def test_the_documents_keys_come_first_in_its_order(log_path):
    entries = [checked(), compared()]
    with transaction.atomic():
        for entry in entries:
            log.append(entry)
    first, second = (json.loads(line) for line in log_path.read_text().splitlines())
    chain = ["prev", "hash"]
    assert list(first) == [*entries[0], "id", "preview_salt", "preview_commitment", *chain]
    assert list(second) == [*entries[1], "id", *chain]
    assert {key: first[key] for key in entries[0]} == entries[0]


@pytest.mark.parametrize("query", ["nul \0 inside", "\ud800 alone", "a\nb\u2028c\x85d", "判断 🍁"])
def test_odd_text_is_one_line_on_every_database(log_path, query):
    log.append(checked(query=query))
    (line,) = read_chain(log_path)
    assert line["query_preview"] == query
    assert log_path.read_bytes().count(b"\n") == 1


def test_salts_are_unique(log_path):
    for _ in range(3):
        log.append(checked())
    assert len({line["preview_commitment"] for line in read_chain(log_path)}) == 3


@pytest.mark.parametrize("bad", [{"hash": "x"}, {"id": "x"}, {"score": float("nan")}])
def test_an_entry_that_cannot_be_serialized_aborts_the_transaction(log_path, bad):
    with pytest.raises(ValueError, match=r"reserved for the hash chain|JSON"):
        log.append({**checked(), **bad})
    with pytest.raises(TypeError):
        log.append({**checked(), "query_preview": None})
    assert not LogEntry.objects.exists()
    assert not log_path.exists()


def test_a_host_writes_only_its_own_entries(log_path, settings):
    settings.ORACLE_LOG_NAME = "elsewhere"
    settings.ORACLE_LOG_PATH = log_path.with_name("no") / "such.jsonl"
    log.append(checked("cs_test_elsewhere"))
    settings.ORACLE_LOG_NAME, settings.ORACLE_LOG_PATH = "here", log_path
    log.append(checked("cs_test_here0000"))
    assert log.sweep() == 0
    assert [line["session_id"] for line in read_chain(log_path)] == ["cs_test_here0000"]


def missing_folder(path):
    return path.with_name("gone") / path.name


def a_folder(path):
    path.mkdir()
    return path


@pytest.mark.parametrize("broken", [missing_folder, a_folder])
def test_a_failed_write_is_logged_counted_and_repaired(log_path, settings, caplog, broken):
    settings.ORACLE_LOG_PATH = broken(log_path.with_name("broken.jsonl"))
    with listening() as lines, log_session("cs_test_another1"):
        row = log.append(checked("cs_test_12345678", query="my secret plan"))
        log.append(compared())
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 4
    assert {record.name for record in caplog.records} == {"audit.log"}
    assert caplog.text.count(row.public_id) == 1
    (logged,) = [line for line in lines if row.public_id in line["message"]]
    assert logged["session"] == short_hash("cs_test_12345678")  # not the current session
    assert '"coherence_score":1.0' in caplog.text
    assert "secret" not in caplog.text
    assert "cs_test" not in caplog.text
    assert list(LogEntry.objects.order_by("id").values_list("failures", flat=True)) == [2, 1]

    settings.ORACLE_LOG_PATH = log_path
    assert log.sweep() == 2
    assert len(read_chain(log_path)) == 2


def test_a_database_error_is_logged_without_its_text(log_path, caplog, monkeypatch):
    def fail(*_args, **_options):
        raise OperationalError("Failing row contains (my secret plan)")

    monkeypatch.setattr("audit.log.log.write_batch", fail)
    log.append(checked())
    assert "OperationalError" in caplog.text
    assert "secret" not in caplog.text
    monkeypatch.undo()
    assert log.flush() == 1
    assert len(read_chain(log_path)) == 1


def test_rotation_by_renaming_keeps_one_chain(log_path):
    log.append(checked())
    log.append(checked())
    aside = log_path.rename(log_path.with_name(log_path.name + ".1"))
    log.append(checked())
    log_path.rename(log_path.with_name(log_path.name + ".0"))
    log_path.touch()
    log.append(checked())
    assert log.sweep() == 0
    assert len(read_chain(aside, log_path.with_name(log_path.name + ".0"), log_path)) == 4


def test_rotation_by_copying_and_truncating_keeps_one_chain(log_path):
    log.append(checked())
    aside = shutil.copy(log_path, log_path.with_name(log_path.name + ".1"))
    log_path.write_bytes(b"")
    log.append(checked())
    assert log.sweep() == 0
    assert len(read_chain(aside, log_path)) == 2


def test_the_chain_continues_after_an_erased_preview(log_path):
    log.append(checked(query="my secret plan"))
    log.append(compared())
    lines = log_path.read_text().splitlines(keepends=True)
    log_path.write_text("".join(erase_preview(line) for line in lines))
    log.append(checked())
    assert "secret" not in log_path.read_text()
    assert [line.get("query_preview") for line in read_chain(log_path)] == ["", None, "Should I?"]


def test_the_original_is_found_across_files(log_path):
    log.append(checked(output="malformed"))
    log.append(checked())
    log_path.rename(log_path.with_name(log_path.name + ".1"))
    log.append(checked(kind="regen"))
    found = find_original("cs_test_12345678")
    assert (found["approved"], found["kind"]) == (True, "original")
    assert find_original("cs_test_1234567") is None


def test_a_lock_that_is_taken_leaves_the_line_to_the_sweep(log_path):
    with locked(log_path, 0) as held:
        assert held
        log.append(checked())  # returns, and its row is committed
        assert LogEntry.objects.get().written_at is None
    assert log.sweep() == 1
    assert LogEntry.objects.get().failures == 0


def test_a_truncated_file_is_detected_and_a_rotated_one_is_not_reported(log_path):
    assert not log.is_cut_short()
    for _ in range(3):
        log.append(checked())
    assert not log.is_cut_short()
    whole = log_path.read_bytes()
    log_path.write_bytes(whole[: whole.index(b"\n") + 1])
    assert log.is_cut_short()
    log.sweep()
    assert not log.is_cut_short()
    log_path.rename(log_path.with_name(f"{log_path.name}.1"))
    assert not log.is_cut_short()
    log_path.touch()
    assert not log.is_cut_short()
