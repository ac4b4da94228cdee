"""A host without workers writes what it owes to its log."""

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from audit.log import log
from audit.log.file import locked
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked

pytestmark = pytest.mark.django_db(transaction=True)


class Enough(Exception):
    pass


@pytest.fixture
def log_path(settings):
    return settings.ORACLE_LOG_PATH


def owe_a_line(log_path) -> None:
    with locked(log_path, 0):
        log.append(checked())


def test_what_waits_is_written(log_path, capsys):
    owe_a_line(log_path)
    call_command("flush_log", "--once")
    assert capsys.readouterr().out == "Nothing waits; 1 lines were written or blanked.\n"
    assert len(read_chain(log_path)) == 1


def test_what_cannot_be_written_is_a_failure(log_path):
    log_path.mkdir()
    log.append(checked())
    with pytest.raises(CommandError, match="1 lines still wait"):
        call_command("flush_log", "--once")


def test_it_looks_again_and_again(log_path, monkeypatch):
    """The first look finds nothing, the second what came meanwhile."""
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise Enough
        owe_a_line(log_path)

    monkeypatch.setattr("audit.management.commands.flush_log.time", SimpleNamespace(sleep=pause))
    with pytest.raises(Enough):
        call_command("flush_log", "--every", "30")
    assert pauses == [30.0, 30.0]
    assert len(read_chain(log_path)) == 1


@pytest.mark.parametrize("every", ["0", "-1", "nan", "inf", "1e999", "86401"])
def test_a_pause_is_more_than_none_and_has_an_end(every):
    with pytest.raises(CommandError, match="more than 0") as refused:
        call_command("flush_log", f"--every={every}")
    assert refused.value.returncode == 2
