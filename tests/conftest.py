"""What holds for every test: loopback only, and tests are marked by what they need."""

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
from tests.support.fence import sitecustomize  # noqa: F401 - importing it raises the fence
from tests.support.file_sizes import size_report
from tests.support.migrated_rows import keep_migrated_rows
from tests.support.visitor import Visitor
from verdicts.results.read_counter import hits

# ... and for whatever a test starts.
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "support/fence")

# Who starts us in the background of a shell or by nohup makes us deaf to one of these. We stay so,
# and what a test starts is not: whatever ignores a signal passes that on, a handler does not.
for number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# A module that uses one of these starts whole sites, and waits for them most of the time.
STARTS_A_SITE = ("live_site", "served_site", "serving", "running")

# A module that uses one of these starts programs, and each takes a second to start.
STARTS_PROGRAMS = ("subprocess", "child_env", "start", "multiprocessing")

# Whole sites whose services are tested on both databases elsewhere.
ON_ONE_DATABASE = (
    *("test_smoke_test", "test_service_log"),
    *("test_page", "test_progress", "test_email_status"),
)
# What shows rows or guards addresses: the queries beneath it are tested on both elsewhere.
SHOWN = (
    "tests/verdicts/admin",
    "tests/verdicts/pages",
    "tests/verdicts/smoke_test",
    "tests/oracle_site",
)

# Examples may take as long as this machine needs: time is measured in benchmarks/.
hypothesis_settings.register_profile("oracle", deadline=None, print_blob=True)
hypothesis_settings.register_profile(
    "fast", hypothesis_settings.get_profile("oracle"), max_examples=10
)
hypothesis_settings.load_profile("oracle")


def pytest_collection_finish() -> None:
    """Modules stay: nobody need look again and again whether one is garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a database is a database test, and runs on both databases."""
    for item in items:
        module = getattr(item, "module", None)
        if any(hasattr(module, name) for name in STARTS_A_SITE):
            item.add_marker("site")
        if any(hasattr(module, name) for name in STARTS_PROGRAMS):
            item.add_marker("slow")
        folder = item.path.parent.relative_to(item.config.rootpath).as_posix()
        if item.path.stem in ON_ONE_DATABASE or folder.startswith(SHOWN):
            item.add_marker("once")
        asks_for = set(getattr(item, "fixturenames", ()))
        wants_one = {"db", "transactional_db"} & asks_for
        if wants_one and not item.get_closest_marker("django_db"):
            item.add_marker("django_db")
        if "browser" in asks_for:
            item.add_marker("browser")
    items.sort(key=_by_duration)


def _by_duration(item: pytest.Item) -> int:
    """What takes longest comes first, so that no worker is left with it at the end."""
    if any(map(item.get_closest_marker, ("site", "browser"))):
        return 0
    return 1 if item.get_closest_marker("slow") else 2


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(size_report())


@pytest.fixture(autouse=True)
def log_of_its_own(settings, tmp_path: Path) -> None:
    """No test writes to the log of whoever runs it."""
    settings.ORACLE_LOG_NAME = "test"
    settings.ORACLE_LOG_PATH = tmp_path / "oracle_log.jsonl"


@pytest.fixture(autouse=True)
def quick_hashing(settings) -> None:
    """A password takes half a second to compare, on purpose; here hundreds are."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def hits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test's reads are written seconds later, by another thread, into everybody's database."""
    monkeypatch.setattr("verdicts.results.read_counter.FLUSH_INTERVAL", 3600.0)
    yield
    hits.forget()


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
def emptied_row_by_row() -> Iterator[None]:
    """After a test with commits of its own: PostgreSQL's TRUNCATE is made for large tables."""
    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "postgresql":
            patch.setattr(type(connection.ops), "sql_flush", delete_all)
        yield


def delete_all(self: BaseDatabaseOperations, style: object, tables: list[str], **_) -> list[str]:
    # In any order, whatever refers to whatever.
    rows = [f"DELETE FROM {self.quote_name(table)}" for table in tables]  # noqa: S608 - our tables
    return ["SET LOCAL session_replication_role = replica", *rows]


@pytest.fixture(scope="session")
def chromium() -> str:
    try:
        return find_browser()
    except BrowserMissing as error:
        pytest.skip(str(error))  # `make test` says so in a line of its own


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Per module: while one is open, Django's ORM refuses to work in this thread."""
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
    """Somebody with a browser, who at the end has met no error and nothing from elsewhere."""
    yield regular_visitor
    regular_visitor.leave()
