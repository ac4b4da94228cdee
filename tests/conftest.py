"""What holds for every test: loopback only, and database tests are marked as such."""

import ipaddress
import sys

import pytest
from django.db import connection
from hypothesis import settings

from tests.file_sizes import size_report

# Examples may take as long as this machine needs: time is measured in benchmarks/.
settings.register_profile("oracle", deadline=None, print_blob=True)
settings.load_profile("oracle")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a database is a database test, and runs on both databases."""
    for item in items:
        if {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("django_db")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(size_report())


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SQLite in a file, as in production: in memory, writers fail instead of waiting."""
    if connection.vendor == "sqlite":
        name = tmp_path_factory.mktemp("database") / "oracle.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(name)


class OutsideWorldError(AssertionError):
    pass


def _is_local(host: object) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        text = host.decode() if isinstance(host, bytes) else str(host)
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def _refuse_outside_world(event: str, arguments: tuple) -> None:
    """An audit hook: it sees every connection and look-up, whichever library asks."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a path: a local socket
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        raise OutsideWorldError(f"a test tried to reach {host!r}")


sys.addaudithook(_refuse_outside_world)
