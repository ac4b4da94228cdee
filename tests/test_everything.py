"""What `make test` says of what cannot be had."""

from contextlib import contextmanager

import pytest

from tests import browser, everything
from tests.browser import BrowserMissing


@pytest.fixture
def nothing_runs(monkeypatch):
    """`make test`, whose tests all pass without being run."""

    @contextmanager
    def database():
        yield "postgres://"

    monkeypatch.setattr(everything, "run_pytest", lambda *_, **__: 0)
    monkeypatch.setattr(everything, "postgresql", database)
    monkeypatch.delenv("ORACLE_TEST_STRICT", raising=False)


@pytest.mark.usefixtures("nothing_runs")
def test_a_missing_browser_is_named_and_fails_where_everything_is_asked_for(monkeypatch, capsys):
    def missing():
        raise BrowserMissing("no Chromium on this machine")

    monkeypatch.setattr(everything, "bring_browser", missing)
    assert everything.main([]) == 0
    line = "NOT RUN: the tests in a browser (no Chromium on this machine)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert everything.main([]) == 1


@pytest.mark.usefixtures("nothing_runs")
def test_a_clock_that_cannot_be_stepped_is_named_and_fails_likewise(monkeypatch, capsys):
    monkeypatch.setattr(everything, "bring_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(everything, "find_library", lambda: None)
    assert everything.main([]) == 0
    line = "NOT RUN: clock steps (no libfaketime works here: pip or apt install it)"
    assert line in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("ORACLE_TEST_STRICT", "1")
    assert everything.main([]) == 1


def test_a_browser_is_looked_for_before_any_is_installed(monkeypatch):
    tried = []
    monkeypatch.setattr(browser, "find_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(browser, "_succeeds", lambda *command: tried.append(command))
    assert browser.bring_browser() == "/usr/bin/chromium"
    assert tried == []


def test_playwrights_own_is_tried_before_debians(monkeypatch):
    tried = []

    def missing():
        raise BrowserMissing("none")

    monkeypatch.setattr(browser, "find_browser", missing)
    monkeypatch.setattr(browser.shutil, "which", lambda _: "/usr/bin/apt-get")
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "_succeeds", lambda *command: tried.append(command) or True)
    with pytest.raises(BrowserMissing):
        browser.bring_browser()
    assert [command[-1] for command in tried] == ["chromium", "chromium"]
    assert ["playwright" in command for command in tried] == [True, False]
