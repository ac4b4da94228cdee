"""A new database for a drill: SQLite, a throwaway PostgreSQL server, or one on a given server."""

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
    why_not_restarted: str = ""


@contextmanager
def open_database(requested: str, folder: Path) -> Iterator[Database]:
    """`requested`: sqlite, postgres or the URL of a PostgreSQL server. Raises NoDatabase."""
    if requested == "sqlite":
        url = f"sqlite:///{folder}/drill.sqlite3"
        yield Database("SQLite", url, why_not_restarted="SQLite has no server")
    elif requested == "postgres":
        with throwaway_server() as server, new_database(server.url) as url:
            yield Database("PostgreSQL", url, restart=server.restart)
    elif requested.startswith(("postgres://", "postgresql://")):
        with _on_server(requested) as url:
            yield Database("PostgreSQL", url, why_not_restarted="the server is not the drill's")
    else:
        raise NoDatabase(
            f"--database must be sqlite, postgres or a postgres:// URL, not {requested!r}."
        )


@contextmanager
def _on_server(server_url: str) -> Iterator[str]:
    # Entered by hand: only errors of the creation mean that there is no database.
    database = new_database(server_url)
    try:
        url = database.__enter__()
    except psycopg.Error as error:
        raise NoDatabase(f"Cannot create a database on that server: {error}") from None
    try:
        yield url
    finally:
        database.__exit__(None, None, None)
