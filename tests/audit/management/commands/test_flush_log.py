"""A host without workers writes its pending log lines."""

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from audit.log import log
from audit.log.file import locked
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked

pytestmark = pytest.mark.django_db(transaction=True)


class StopLoop(Exception):
    pass


@pytest.fixture
def log_path(settings):
    return settings.ORACLE_LOG_PATH


def append_pending_line(log_path) -> None:
    with locked(log_path, 0):
        log.append(checked())


def test_pending_lines_are_written(log_path, capsys):
    append_pending_line(log_path)
    call_command("flush_log", "--once")
    assert capsys.readouterr().out == "Nothing pending; 1 lines were written or blanked.\n"
    assert len(read_chain(log_path)) == 1


def test_lines_that_cannot_be_written_are_a_failure(log_path):
    log_path.mkdir()
    log.append(checked())
    with pytest.raises(CommandError, match="1 lines are still pending"):
        call_command("flush_log", "--once")


def test_it_runs_periodically(log_path, monkeypatch):
    """The first run finds nothing, the second what was appended since."""
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise StopLoop
        append_pending_line(log_path)

    monkeypatch.setattr("audit.management.commands.flush_log.time", SimpleNamespace(sleep=pause))
    with pytest.raises(StopLoop):
        call_command("flush_log", "--every", "30")
    assert pauses == [30.0, 30.0]
    assert len(read_chain(log_path)) == 1


@pytest.mark.parametrize("every", ["0", "-1", "nan", "inf", "1e999", "86401"])
def test_an_invalid_interval_is_rejected(every):
    with pytest.raises(CommandError, match="more than 0") as raised:
        call_command("flush_log", f"--every={every}")
    assert raised.value.returncode == 2
