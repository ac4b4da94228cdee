"""The page names the versions of everything that was measured."""

import importlib.metadata
import sqlite3
from datetime import UTC, datetime

import pytest

from benchmarks import page
from benchmarks.dataset.datasets import open_datasets
from benchmarks.page import render_page, versions
from drill.failures import PostgresqlMissing

pytestmark = pytest.mark.slow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_page_has_versions_of_databases_and_programs(monkeypatch):
    monkeypatch.setattr(page, "program_version", lambda program, *_: f"1.{len(program)}")
    found = versions("18.1")
    programs = ["nginx 1.5", "redis-server 1.12", "node 1.4", "wrk 1.3"]
    databases = [f"SQLite {sqlite3.sqlite_version}", "PostgreSQL 18.1"]
    assert {*programs, *databases} <= {*found}


def test_the_page_has_versions_of_the_peers_packages(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"1.{len(name)}")
    assert {"hiredis 1.7", "orjson 1.6", "redis 1.5", "fastapi 1.7"} <= {*versions("")}


def test_without_postgresql_the_page_has_no_version_of_it():
    assert "PostgreSQL" not in render_page([], began=NOW)


def test_the_postgresql_version_is_that_of_the_measured_server(tmp_path):
    with open_datasets(tmp_path) as datasets:
        assert datasets.server_version == ""
        try:
            assert datasets.server
        except PostgresqlMissing as error:
            pytest.skip(f"no PostgreSQL here: {error}")
        assert datasets.server_version[:2].isdigit()
