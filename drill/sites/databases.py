"""The database that a drill is on: a file, a server of its own, or a new one on yours."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from drill.failures import NoDatabase
from drill.sites.postgresql import new_database, throwaway_server


@dataclass(frozen=True, slots=True)
class Database:
    title: str
    url: str
    restart: Callable[[], None] | None = None
    why_not: str = ""  # it is not restarted


@contextmanager
def open_database(asked: str, folder: Path) -> Iterator[Database]:
    """`asked`: sqlite, postgres, or the address of a PostgreSQL server. Raises NoDatabase."""
    if asked == "sqlite":
        why_not = "SQLite has no server"
        yield Database("SQLite", f"sqlite:///{folder}/drill.sqlite3", why_not=why_not)
    elif asked == "postgres":
        with throwaway_server() as server, new_database(server.url) as url:
            yield Database("PostgreSQL", url, restart=server.restart)
    elif asked.startswith(("postgres://", "postgresql://")):
        with _on_server(asked) as url:
            yield Database("PostgreSQL", url, why_not="the server is not ours")
    else:
        raise NoDatabase(f"--database takes sqlite, postgres or postgres://..., not {asked!r}.")


@contextmanager
def _on_server(server_url: str) -> Iterator[str]:
    making = new_database(server_url)
    try:
        url = making.__enter__()
    except psycopg.Error as error:
        raise NoDatabase(f"No database can be made on that server: {error}") from None
    try:
        yield url
    finally:
        making.__exit__(None, None, None)
