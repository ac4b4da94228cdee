"""Several processes on one log: killed, out of disk space, without permission."""

import os
import signal
import time

import pytest

from audit.log import log
from audit.models import LogEntry
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def ids_in_file(path):
    return [line["id"] for line in read_chain(path)]


def ids_in_database():
    return sorted(LogEntry.objects.values_list("public_id", flat=True))


def test_concurrent_processes_keep_one_chain(log_path, elsewhere):
    processes = [elsewhere.start("append", 50) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    for process in processes:
        process.stdout.close()
    log.sweep()
    assert len(ids_in_file(log_path)) == 200
    assert sorted(ids_in_file(log_path)) == ids_in_database()
    assert not LogEntry.objects.pending("here").exists()


def test_concurrent_sweeps_write_every_line_once(log_path, elsewhere, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("audit.log.log.flush", lambda: None)
        for _ in range(100):
            log.append(checked())
    processes = [elsewhere.start("sweep", 1) for _ in range(3)]
    log.sweep()
    assert [process.wait() for process in processes] == [0] * 3
    for process in processes:
        process.stdout.close()
    log.sweep()
    assert sorted(ids_in_file(log_path)) == ids_in_database()


def test_a_kill_between_writing_and_marking_duplicates_no_line(log_path, elsewhere):
    log.append(checked())
    assert elsewhere.run("die before marking") == -signal.SIGKILL
    assert LogEntry.objects.pending("here").count() == 1
    assert len(ids_in_file(log_path)) == 2
    assert log.sweep() == 1
    assert len(ids_in_file(log_path)) == 2
    assert not LogEntry.objects.pending("here").exists()


def test_a_full_disk_loses_no_line_and_leaves_no_incomplete_one(log_path, elsewhere):
    # Larger than the database's files, to which the same size limit applies.
    padding = b"{}\n" * 3_000_000
    log_path.write_bytes(padding)
    assert elsewhere.run("fill the disk", 2) == 0
    assert log_path.read_bytes() == padding
    assert sorted(LogEntry.objects.values_list("failures", flat=True)) == [1, 2]
    log_path.write_bytes(b"")
    assert log.sweep() == 2
    assert sorted(ids_in_file(log_path)) == ids_in_database()


def test_a_file_without_write_permission_is_written_later(log_path, elsewhere):
    log.append(checked())
    log_path.chmod(0o440)
    assert elsewhere.run("may not write") == 0
    assert LogEntry.objects.get(written_at=None).failures == 1
    log_path.chmod(0o640)
    assert log.sweep() == 1
    assert len(ids_in_file(log_path)) == 2


def test_a_killed_process_releases_the_lock(log_path, elsewhere):
    holder = elsewhere.start("hold the lock")
    try:
        assert holder.stdout.readline() == "True\n"
        begun = time.monotonic()
        log.append(checked())
        took = time.monotonic() - begun
        assert LogEntry.objects.get().written_at is None
        assert took < log.SWEEP_LOCK_TIMEOUT
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    assert log.sweep() == 1
    assert len(ids_in_file(log_path)) == 1
