"""What the page says of the machine that it was measured on."""

import importlib.metadata
import sqlite3
from datetime import UTC, datetime

import pytest

from benchmarks import page as pages
from benchmarks.dataset.datasets import houses
from benchmarks.page import page, versions
from drill.failures import PostgresqlMissing

pytestmark = pytest.mark.slow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_databases_and_programs_are_told_with_their_versions(monkeypatch):
    monkeypatch.setattr(pages, "version_of", lambda program, *_: f"1.{len(program)}")
    found = versions("18.1")
    programs = ["nginx 1.5", "redis-server 1.12", "node 1.4", "wrk 1.3"]
    databases = [f"SQLite {sqlite3.sqlite_version}", "PostgreSQL 18.1"]
    assert {*programs, *databases} <= {*found}


def test_the_peers_packages_are_told_with_their_versions(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"1.{len(name)}")
    assert {"hiredis 1.7", "orjson 1.6", "redis 1.5", "fastapi 1.7"} <= {*versions("")}


def test_a_run_that_used_no_postgresql_tells_no_version_of_it():
    assert "PostgreSQL" not in page([], began=NOW)


def test_the_version_is_that_of_the_server_that_was_measured(tmp_path):
    with houses(tmp_path) as built:
        assert built.server_version == ""
        try:
            assert built.server
        except PostgresqlMissing as error:
            pytest.skip(f"no PostgreSQL here: {error}")
        assert built.server_version[:2].isdigit()
