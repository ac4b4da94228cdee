"""`make test`: which tests it runs, and what it reports as unavailable."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from drill.failures import PostgresqlMissing
from tests import runner
from tests.support import browser
from tests.support.browser import BrowserMissing
from tests.support.programs import ProgramMissing


@pytest.fixture
def all_tests_pass(monkeypatch):
    """Replaces pytest and the external programs: nothing runs, and everything passes."""

    monkeypatch.setattr(runner, "run_pytest", lambda *_, **__: 0)
    monkeypatch.setattr(runner, "bring_nginx", lambda: "/usr/sbin/nginx")
    monkeypatch.setattr(runner, "bring_systemd_analyze", lambda: "/usr/bin/systemd-analyze")
    monkeypatch.setattr(
        runner, "throwaway_server", lambda: nullcontext(SimpleNamespace(url="postgres://"))
    )
    monkeypatch.delenv("ORACLE_TEST_STRICT", raising=False)


@pytest.mark.usefixtures("all_tests_pass")
def test_a_missing_browser_is_reported_and_fails_in_strict_mode(monkeypatch, capsys):
    def missing():
        raise BrowserMissing("no Chromium on this machine")

    monkeypatch.setattr(runner, "find_or_install_browser", missing)
    assert runner.main([]) == 0
    line = "NOT RUN: the tests in a browser (no Chromium on this machine)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert runner.main([]) == 1


@pytest.mark.usefixtures("all_tests_pass")
@pytest.mark.parametrize(
    ("bring", "tests"),
    [("bring_nginx", "behind nginx"), ("bring_systemd_analyze", "of the units")],
)
def test_a_missing_program_is_reported_and_fails_in_strict_mode(monkeypatch, capsys, bring, tests):
    def missing():
        raise ProgramMissing("no such program on this machine")

    monkeypatch.setattr(runner, "find_or_install_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(runner, bring, missing)
    assert runner.main([]) == 0
    line = f"NOT RUN: the tests {tests} (no such program on this machine)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert runner.main([]) == 1


@pytest.mark.usefixtures("all_tests_pass")
def test_a_missing_libfaketime_is_reported_and_fails_in_strict_mode(monkeypatch, capsys):
    monkeypatch.setattr(runner, "find_or_install_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(runner, "find_library", lambda: None)
    assert runner.main([]) == 0
    line = "NOT RUN: clock steps (no libfaketime works here: pip or apt install it)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert runner.main([]) == 1


@pytest.mark.usefixtures("all_tests_pass")
def test_a_missing_postgresql_is_reported_and_fails_in_strict_mode(monkeypatch, capsys):
    def missing():
        raise PostgresqlMissing("no wheel\nfor this machine")

    monkeypatch.setattr(runner, "find_or_install_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(runner, "throwaway_server", missing)
    assert runner.main([]) == 0
    line = "NOT RUN: PostgreSQL (no wheel for this machine)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert runner.main([]) == 1


SUITE = """
import os, pytest

@pytest.mark.parametrize("number", range(8))
def test_number(number):
    {body}
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """A temporary test suite for `run_pytest`."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:django -p no:cacheprovider\n")
    monkeypatch.chdir(tmp_path)

    def write(body: str, file: str = "test_numbers.py") -> None:
        (tmp_path / file).write_text(SUITE.format(body=body))

    return write


@pytest.mark.slow
def test_a_failure_in_any_worker_fails(suite, capfd):
    suite("assert True")
    suite("assert number != 7", file="test_others.py")
    assert runner.run_pytest("a title", []) == 1
    output = capfd.readouterr().out
    assert output.startswith("== a title ==\n")
    assert "1 failed, 15 passed" in output


@pytest.mark.slow
def test_settings_in_the_environment_do_not_reach_the_tests(suite, monkeypatch):
    monkeypatch.setenv("SITE_URL", "https://oracle.example")
    suite("assert 'SITE_URL' not in os.environ and os.environ['DATABASE_URL'] == 'postgres://'")
    assert runner.run_pytest("PostgreSQL", [], "postgres://") == 0


@pytest.mark.slow
def test_an_empty_selection_fails_unless_the_caller_made_it(suite):
    suite("assert True")
    assert runner.run_pytest("SQLite", ["-k", "nothing"]) == 0
    assert runner.run_pytest("PostgreSQL", runner.ON_POSTGRESQL) != 0


def test_a_driver_that_does_not_start_counts_as_a_missing_browser(monkeypatch):
    monkeypatch.setattr(browser, "_succeeds", lambda *command: "playwright" not in command)
    with pytest.raises(BrowserMissing, match="libatomic1"):
        browser.find_browser()


def test_an_installed_browser_is_used(monkeypatch):
    tried = []
    monkeypatch.setattr(browser, "find_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(browser, "_succeeds", lambda *command: tried.append(command))
    assert browser.find_or_install_browser() == "/usr/bin/chromium"
    assert tried == []


def test_playwrights_chromium_is_installed_before_debians(monkeypatch):
    tried = []

    def missing():
        raise BrowserMissing("none")

    monkeypatch.setattr(browser, "find_browser", missing)
    monkeypatch.setattr(browser.shutil, "which", lambda _: "/usr/bin/apt-get")
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "_succeeds", lambda *command: tried.append(command) or True)
    with pytest.raises(BrowserMissing):
        browser.find_or_install_browser()
    assert [command[-1] for command in tried] == ["chromium", "chromium"]
    assert ["playwright" in command for command in tried] == [True, False]
