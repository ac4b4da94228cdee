"""For all tests: network access to loopback only, and markers by what a test needs."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser
from pytest_django import DjangoDbBlocker

from drill.sites.live_site import live_site
from tests.support.browser import BrowserMissing, find_browser, open_browser
from tests.support.customers import Customers
from tests.support.fence import sitecustomize  # noqa: F401 - importing it blocks the network
from tests.support.file_sizes import size_report
from tests.support.migrated_rows import keep_migrated_rows
from tests.support.visitor import Visitor
from verdicts.results.read_counter import hits

# Blocks the network in subprocesses, too.
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "support/fence")

# A shell's background job or nohup ignores one of these signals, and subprocesses inherit that, but
# not a handler. So the tests keep ignoring the signal, and the programs they start do not.
for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# A module that imports one of these starts whole sites, and mostly waits for them.
STARTS_A_SITE = ("live_site", "served_site", "serving", "running")

# A module that imports one of these starts programs, which takes a second each.
STARTS_PROGRAMS = ("subprocess", "child_env", "start", "multiprocessing")

# Whole sites whose services other tests run on both databases.
ON_ONE_DATABASE = (
    *("test_smoke_test", "test_service_log"),
    *("test_page", "test_progress", "test_email_status"),
)
# Pages and settings, whose queries other tests run on both databases.
ONCE_FOLDERS = (
    "tests/verdicts/admin",
    "tests/verdicts/pages",
    "tests/verdicts/smoke_test",
    "tests/oracle_site",
)
# Tests in these folders of state changes that both databases must make.
ON_BOTH_DATABASES = ("test_marking",)

# No deadline per example: machines differ, and benchmarks/ measures time.
hypothesis_settings.register_profile("oracle", deadline=None, print_blob=True)
hypothesis_settings.register_profile(
    "fast", hypothesis_settings.get_profile("oracle"), max_examples=10
)
hypothesis_settings.load_profile("oracle")


def pytest_collection_finish() -> None:
    """Excludes all imported modules from garbage collection, which makes the tests faster."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Adds the markers; a test with a database fixture runs on both databases."""
    for item in items:
        module = getattr(item, "module", None)
        if any(hasattr(module, name) for name in STARTS_A_SITE):
            item.add_marker("site")
        if any(hasattr(module, name) for name in STARTS_PROGRAMS):
            item.add_marker("slow")
        folder = item.path.parent.relative_to(item.config.rootpath).as_posix()
        name = item.path.stem
        once = name in ON_ONE_DATABASE or folder.startswith(ONCE_FOLDERS)
        if once and name not in ON_BOTH_DATABASES:
            item.add_marker("once")
        fixtures = set(getattr(item, "fixturenames", ()))
        database = {"db", "transactional_db"} & fixtures
        if database and not item.get_closest_marker("django_db"):
            item.add_marker("django_db")
        if "browser" in fixtures:
            item.add_marker("browser")
    items.sort(key=_by_duration)


def _by_duration(item: pytest.Item) -> int:
    """Slow tests first, so that none of them starts when the other workers have finished."""
    if any(map(item.get_closest_marker, ("site", "browser"))):
        return 0
    return 1 if item.get_closest_marker("slow") else 2


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(size_report())


@pytest.fixture(autouse=True)
def temporary_log(settings, tmp_path: Path) -> None:
    """No test writes to the append-only log in var/."""
    settings.ORACLE_LOG_NAME = "test"
    settings.ORACLE_LOG_PATH = tmp_path / "oracle_log.jsonl"


@pytest.fixture(autouse=True)
def fast_password_hashing(settings) -> None:
    """The production hasher takes half a second per password on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def isolated_read_counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keeps the counter's thread from writing a test's reads into the next test's database."""
    monkeypatch.setattr("verdicts.results.read_counter.FLUSH_INTERVAL", 3600.0)
    yield
    hits.discard()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """SQLite in a file, as in production: in memory, writers fail instead of waiting."""
    if connection.vendor == "sqlite":
        name = tmp_path_factory.mktemp("database") / "oracle.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(name)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        keep_migrated_rows()


@pytest.fixture(scope="session", autouse=True)
def delete_instead_of_truncate() -> Iterator[None]:
    """After tests that commit: PostgreSQL's TRUNCATE is slow for small tables."""
    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "postgresql":
            patch.setattr(type(connection.ops), "sql_flush", delete_all)
        yield


def delete_all(self: BaseDatabaseOperations, style: object, tables: list[str], **_) -> list[str]:
    # Without foreign key checks, so that the order does not matter.
    rows = [f"DELETE FROM {self.quote_name(table)}" for table in tables]  # noqa: S608 - our tables
    return ["SET LOCAL session_replication_role = replica", *rows]


@pytest.fixture(scope="session")
def chromium() -> str:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))  # `make test` reports that


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Per module, because Django's ORM refuses to work in this thread while a browser is open."""
    with open_browser(chromium) as opened:
        yield opened


@pytest.fixture(scope="session")
def customers(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Customers]:
    with live_site(tmp_path_factory.mktemp("customers")) as site:
        site.sandbox.settings(latency=0.05)
        yield Customers(site)


@pytest.fixture(scope="module")
def regular_visitor(browser: Browser, customers: Customers) -> Visitor:
    return Visitor(browser, customers.site.url, also=customers.site.sandbox.url)


@pytest.fixture
def visitor(regular_visitor: Visitor) -> Iterator[Visitor]:
    """A browser; fails the test if it saw an error or a request to another origin."""
    yield regular_visitor
    regular_visitor.leave()
