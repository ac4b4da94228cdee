"""The filled datasets of a run: each is built on first use and shared by all parts."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import parse_qs, urlsplit

import psutil
import psycopg

from benchmarks.dataset.config import Dataset, production_env
from benchmarks.dataset.page_cache import CachedFiles
from benchmarks.machine import CLIENT_CORE, SERVER_CORE
from benchmarks.servers import ROOT, free_port, process_tree, running_server
from drill.sites.postgresql import throwaway_server
from sandbox.client import SandboxClient

Engine = Literal["SQLite", "PostgreSQL"]
ENGINES: Final[tuple[Engine, ...]] = ("SQLite", "PostgreSQL")
HISTORY_DAYS: Final = 400  # of daily statistics: as many as are kept uncompacted


@dataclass(frozen=True)
class FilledDataset:
    dataset: Dataset
    fill_seconds: float
    cached_files: CachedFiles


class Datasets:
    """In one folder, with one sandbox and one PostgreSQL server, both started on first use."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self._filled: dict[tuple[Engine, int], FilledDataset] = {}
        self._server = ""
        self._sandbox: SandboxClient | None = None

    def filled(self, engine: Engine, orders: int) -> FilledDataset:
        if (engine, orders) not in self._filled:
            dataset = self._new(engine, f"orders_{orders}", orders)
            command = [sys.executable, "-m", "benchmarks.dataset", str(orders)]
            command += ["--history", str(HISTORY_DAYS)]
            started_at = time.perf_counter()
            subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **production_env(dataset)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            seconds = time.perf_counter() - started_at
            already_mapped = sum(one.cached_files.size for one in self._filled.values())
            cached_files = CachedFiles(self._files(engine, dataset), already_mapped)
            self._filled[engine, orders] = FilledDataset(dataset, seconds, cached_files)
        return self._filled[engine, orders]

    def disk_warnings(self) -> list[str]:
        """A sentence for each dataset that does not fit into memory beside the others."""
        return [
            f"{engine} with {orders:,} orders does not fit into memory: "
            "its results include disk reads."
            for (engine, orders), one in self._filled.items()
            if not one.cached_files.fits
        ]

    def empty(self, engine: Engine) -> Dataset:
        """A migrated database without orders."""
        dataset = self._new(engine, "orders_0", 0)
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        env = {**os.environ, **production_env(dataset)}
        subprocess.run(migrate, cwd=ROOT, env=env, check=True)
        return dataset

    def drop(self, engine: Engine, orders: int) -> None:
        """Free the space of a dataset: a million orders take about ten gigabytes."""
        dropped = self._filled.pop((engine, orders))
        dropped.cached_files.release()
        if engine == "SQLite":
            shutil.rmtree(Path(dropped.dataset.log_path).parent)
        else:
            self._sql(f'DROP DATABASE "orders_{orders}" WITH (FORCE)')

    @property
    def sandbox(self) -> SandboxClient:
        """A sandbox whose model answers at once, always GREEN."""
        if self._sandbox is None:
            port = free_port()
            command = [sys.executable, "-m", "sandbox", "--port", str(port), "--latency", "0"]
            serving = running_server(command, port=port, folder=self.folder, core=CLIENT_CORE)
            self._stack.enter_context(serving)
            self._sandbox = SandboxClient(f"http://127.0.0.1:{port}")
            self._sandbox.fault("gemini", "verdict", label="GREEN", times=None)
        return self._sandbox

    @property
    def server(self) -> str:
        """The URL of the PostgreSQL server."""
        if not self._server:
            self._server = self._stack.enter_context(throwaway_server()).url
        return self._server

    @property
    def server_version(self) -> str:
        """PostgreSQL's version; blank if the server was not used."""
        if not self._server:
            return ""
        with psycopg.connect(self._server) as session:
            return session.info.parameter_status("server_version") or ""

    def create_database(self, name: str) -> str:
        """Create a database on the PostgreSQL server; returns its URL."""
        self._sql(f'CREATE DATABASE "{name}"')
        return urlsplit(self.server)._replace(path=f"/{name}").geturl()

    @property
    def socket(self) -> str:
        """The folder of PostgreSQL's socket, which is also its data directory."""
        return parse_qs(urlsplit(self.server).query)["host"][0]

    @contextmanager
    def postgresql_pinned(self) -> Iterator[None]:
        """PostgreSQL runs on the server's core only while the block runs."""
        cores = os.sched_getaffinity(0)
        self._set_affinity({sorted(cores)[SERVER_CORE % len(cores)]})
        yield
        self._set_affinity(cores)

    def _set_affinity(self, cores: set[int]) -> None:
        pid = int(Path(self.socket, "postmaster.pid").read_text().split()[0])
        for one in process_tree(psutil.Process(pid)):
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                os.sched_setaffinity(one.pid, cores)

    def _new(self, engine: Engine, name: str, orders: int) -> Dataset:
        folder = self.folder / engine / name
        folder.mkdir(parents=True)
        if engine == "SQLite":
            database_url = f"sqlite:///{folder}/oracle.sqlite3"
        else:
            database_url = self.create_database(name)
        return Dataset(orders, database_url, str(folder / "oracle_log.jsonl"), self.sandbox.url)

    def _files(self, engine: Engine, dataset: Dataset) -> list[Path]:
        """The files of a dataset's database, after everything has been written to them."""
        if engine == "SQLite":
            return [Path(dataset.database_url.removeprefix("sqlite:///"))]
        self._sql("CHECKPOINT")
        with psycopg.connect(dataset.database_url) as session:
            sql = "SELECT oid FROM pg_database WHERE datname = current_database()"
            (oid,) = session.execute(sql).fetchone() or (0,)
        return list(Path(self.socket, "base", str(oid)).iterdir())

    def _sql(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as session:
            session.execute(statement)


@contextmanager
def open_datasets(folder: Path) -> Iterator[Datasets]:
    """Stops the sandbox and the PostgreSQL server when the block ends."""
    with ExitStack() as stack:
        yield Datasets(folder, stack)
