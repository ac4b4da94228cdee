"""A filled dataset is consistent: valid for the product's own commands and constraints."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from drill.sites.child_env import child_env
from drill.sites.live_site import database_url
from drill.sites.processes import ROOT

ORDERS = 1_100  # enough for every outcome to occur
PG_SCHEMA = """
SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""
SQLITE_SCHEMA = "SELECT sql FROM sqlite_master WHERE sql NOTNULL"


@dataclass(frozen=True)
class Site:
    url: str
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        log = str(self.folder / "oracle_log.jsonl")
        env = child_env(DATABASE_URL=self.url, ORACLE_LOG_PATH=log, ORACLE_LOG_NAME="benchmark")
        command = (sys.executable, *command)
        return subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )

    def rows(self, sql: str) -> list[tuple]:
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as rows:
                return rows.execute(sql).fetchall()
        with psycopg.connect(self.url) as rows:
            return rows.execute(sql).fetchall()

    def schema(self) -> list[tuple]:
        is_sqlite = self.url.startswith("sqlite")
        return sorted(self.rows(SQLITE_SCHEMA if is_sqlite else PG_SCHEMA))


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("dataset")
    with database_url(folder) as url:
        site = Site(url, folder)
        assert site.run("manage.py", "migrate", "--verbosity=0").returncode == 0
        yield site


@pytest.fixture(scope="module")
def filled(empty) -> Site:
    before = empty.schema()
    done = empty.run("-m", "benchmarks.dataset", str(ORDERS))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{ORDERS:,} orders in" in done.stdout
    assert empty.schema() == before
    return empty


pytestmark = pytest.mark.django_db


def test_the_log_is_one_valid_chain_that_matches_the_rows(filled):
    done = filled.run("manage.py", "audit_verify")
    assert done.returncode == 0, done.stderr
    lines = filled.rows("SELECT count(*) FROM audit_logentry")[0][0]
    assert done.stdout == f"Sound: {lines:,} lines in 1 file, one chain.\n"
    assert lines > ORDERS


def test_every_order_has_its_full_history(filled):
    orders, events, delivered, cached = filled.rows(
        "SELECT (SELECT count(*) FROM verdicts_order), (SELECT count(*) FROM verdicts_stripeevent),"
        " (SELECT count(*) FROM verdicts_order WHERE status = 'delivered'),"
        " (SELECT count(*) FROM verdicts_cachedverdict)"
    )[0]
    assert orders == events == ORDERS
    assert cached == delivered > 0
    statuses = filled.rows("SELECT DISTINCT status FROM verdicts_order ORDER BY status")
    assert statuses == [("delivered",), ("failed",), ("rejected",)]
    levels = filled.rows("SELECT DISTINCT level FROM audit_divergenceevent ORDER BY level")
    assert levels == [("minor",), ("none",), ("significant",)]


def test_response_bodies_have_a_realistic_size(filled):
    shortest, longest = filled.rows(
        "SELECT min(length(body)), max(length(body)) FROM verdicts_cachedverdict"
    )[0]
    assert 2_200 < shortest <= longest < 3_100


def test_daily_statistics_match_the_rows(filled):
    done = filled.run("manage.py", "divergence_report", "--days", "100", "--format", "json")
    compared = json.loads(done.stdout)["rates"][-1]["compared"]
    counted = filled.rows("SELECT sum(count) FROM audit_daycount WHERE name = 'divergence'")[0][0]
    assert int(counted) == compared > 0


def test_existing_data_is_never_overwritten(filled):
    done = filled.run("-m", "benchmarks.dataset", "10")
    assert done.returncode == 1
    assert (
        done.stderr == "The database or the log is not empty. Use a new database and a new log.\n"
    )
    assert filled.rows("SELECT count(*) FROM verdicts_order") == [(ORDERS,)]


def test_new_orders_get_ids_after_the_filled_ones(filled):
    """Sequences must be past the last row, or the next insert would fail."""
    line = "from audit.models import Action; print(Action.objects.create(who='x').pk)"
    done = filled.run("manage.py", "shell", "--no-imports", "-c", line)
    assert int(done.stdout) > ORDERS * 0.9, done.stderr


def test_zero_orders_is_a_usage_error(empty):
    assert empty.run("-m", "benchmarks.dataset", "0").returncode == 2
