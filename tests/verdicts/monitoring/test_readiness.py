from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import LogEntry
from verdicts.jobs import queue
from verdicts.models import QueueHeartbeat
from verdicts.monitoring import readiness


@pytest.fixture
def ready(client, db):
    def ask() -> tuple[int, dict[str, dict[str, object]]]:
        answer = client.get("/readyz")
        assert answer.json()["ready"] is (answer.status_code == 200)
        assert "no-store" in answer["Cache-Control"]
        return answer.status_code, answer.json()["checks"]

    return ask


def not_ok(checks: dict[str, dict[str, object]]) -> list[str]:
    return [name for name, check in checks.items() if not check["ok"]]


def test_a_ready_site_reports_each_check(ready):
    status, checks = ready()
    assert status == 200
    assert list(checks) == ["database", "migrations", "queue generate", "queue post", "log"]
    assert not_ok(checks) == []
    assert all(check["says"] for check in checks.values())


def test_without_a_database_nothing_else_is_checked(ready, monkeypatch):
    def unreachable() -> None:
        raise OperationalError("host db.internal refuses user oracle")

    monkeypatch.setattr(connection, "cursor", unreachable)
    status, checks = ready()
    assert status == 503
    assert checks["database"]["says"] == "does not answer: OperationalError"
    assert checks["log"]["says"] == readiness.NOT_CHECKED
    assert len(not_ok(checks)) == 5


def test_a_database_that_fails_during_the_checks_is_reported(ready, monkeypatch):
    def unreachable(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(readiness, "is_stalled", unreachable)
    status, checks = ready()
    assert status == 503
    assert not_ok(checks) == ["queue generate", "queue post"]


def test_an_unapplied_migration_is_reported(ready):
    last = MigrationRecorder.Migration.objects.filter(app="verdicts").order_by("name").last()
    last.delete()
    status, checks = ready()
    assert status == 503
    assert checks["migrations"]["says"] == "1 not applied: run `manage.py migrate`"


@pytest.mark.parametrize(("job", "name"), [(queue.FULFIL, "generate"), (queue.DELIVER, "post")])
def test_a_stalled_queue_is_reported(ready, job, name):
    queue.enqueue(job, 1)
    assert ready()[0] == 200  # it has only just been queued
    long_ago = timezone.now() - timedelta(minutes=5)
    OrmQ.objects.update(lock=long_ago)
    status, checks = ready()
    assert (status, not_ok(checks)) == (503, [f"queue {name}"])
    QueueHeartbeat.beat(name)
    assert ready()[0] == 200


def test_an_unwritable_log_is_reported(ready, settings, tmp_path):
    settings.ORACLE_LOG_PATH = tmp_path / "no such folder" / "oracle_log.jsonl"
    status, checks = ready()
    assert (status, not_ok(checks)) == (503, ["log"])
    assert "No such file" in checks["log"]["says"]


def test_log_lines_that_could_not_be_written_are_reported(ready):
    LogEntry.objects.create(host="test", entry="{}", failures=3)
    LogEntry.objects.create(host="another host", entry="{}", failures=3)
    status, checks = ready()
    assert (status, not_ok(checks)) == (503, ["log"])
    assert checks["log"]["says"].startswith("1 lines not written")
