"""The filled houses of a run: each is built when it is first asked for, and shared by all parts."""

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

from benchmarks.growth.places import Place, production
from benchmarks.in_memory import Held
from benchmarks.machine import SERVER
from benchmarks.servers import ROOT, family, free_port, started
from drill.sites.postgresql import throwaway_server
from sandbox.client import SandboxClient

Kind = Literal["SQLite", "PostgreSQL"]
HISTORY: Final = 400  # days of figures, as many as are kept one by one
KINDS: Final[tuple[Kind, ...]] = ("SQLite", "PostgreSQL")


@dataclass(frozen=True)
class Filled:
    place: Place
    seconds: float  # that it took to fill
    held: Held


class Houses:
    """In one folder, with one sandbox, and one PostgreSQL server from its first use on."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self._filled: dict[tuple[Kind, int], Filled] = {}
        self._server = ""
        self._sandbox: SandboxClient | None = None

    def filled(self, kind: Kind, orders: int) -> Filled:
        if (kind, orders) not in self._filled:
            place = self._place(kind, f"house_{orders}", orders)
            command = [sys.executable, "-m", "benchmarks.dataset", str(orders)]
            command += ["--history", str(HISTORY)]
            started_at = time.perf_counter()
            subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **production(place)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            took = time.perf_counter() - started_at
            beside = sum(one.held.size for one in self._filled.values())
            held = Held(self._files(kind, place), beside)
            self._filled[kind, orders] = Filled(place, took, held)
        return self._filled[kind, orders]

    def measured_on_disk(self) -> list[str]:
        """A sentence for each house that does not fit into memory beside the others."""
        return [
            f"{kind} with {orders:,} orders is larger than the memory here: its disk counts, too."
            for (kind, orders), one in self._filled.items()
            if not one.held.fits
        ]

    def empty(self, kind: Kind) -> Place:
        """One without a single order."""
        place = self._place(kind, "house_empty", 0)
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(migrate, cwd=ROOT, env={**os.environ, **production(place)}, check=True)
        return place

    def tear_down(self, kind: Kind, orders: int) -> None:
        """What is not needed any more makes room: a million orders take some ten gigabytes."""
        gone = self._filled.pop((kind, orders))
        place = gone.place
        gone.held.let_go()
        if kind == "SQLite":
            shutil.rmtree(Path(place.log).parent)
        else:
            self._sql(f'DROP DATABASE "house_{orders}" WITH (FORCE)')

    @property
    def sandbox(self) -> SandboxClient:
        """Its model answers at once, and always GREEN."""
        if self._sandbox is None:
            port = free_port()
            command = [sys.executable, "-m", "sandbox", "--port", str(port), "--latency", "0"]
            self._stack.enter_context(started(command, port=port, folder=self.folder, core=1))
            self._sandbox = SandboxClient(f"http://127.0.0.1:{port}")
            self._sandbox.fault("gemini", "verdict", label="GREEN", times=None)
        return self._sandbox

    @property
    def server(self) -> str:
        """PostgreSQL's address."""
        if not self._server:
            self._server = self._stack.enter_context(throwaway_server()).url
        return self._server

    @property
    def server_version(self) -> str:
        """PostgreSQL's; blank where nothing has used it so far."""
        if not self._server:
            return ""
        with psycopg.connect(self._server) as session:
            return session.info.parameter_status("server_version") or ""

    def database(self, name: str) -> str:
        """A new one on the server."""
        self._sql(f'CREATE DATABASE "{name}"')
        return urlsplit(self.server)._replace(path=f"/{name}").geturl()

    @property
    def socket(self) -> str:
        return parse_qs(urlsplit(self.server).query)["host"][0]

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """While the block runs PostgreSQL has the server's core and no other."""
        cores = os.sched_getaffinity(0)
        self._let_run_on({sorted(cores)[SERVER % len(cores)]})
        yield
        self._let_run_on(cores)

    def _let_run_on(self, cores: set[int]) -> None:
        pid = int(Path(self.socket, "postmaster.pid").read_text().split()[0])
        for one in family(psutil.Process(pid)):
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                os.sched_setaffinity(one.pid, cores)

    def _place(self, kind: Kind, name: str, orders: int) -> Place:
        folder = self.folder / kind / name
        folder.mkdir(parents=True)
        database = f"sqlite:///{folder}/oracle.sqlite3" if kind == "SQLite" else self.database(name)
        return Place(orders, database, str(folder / "oracle_log.jsonl"), self.sandbox.url)

    def _files(self, kind: Kind, place: Place) -> list[Path]:
        """Of a house's database, all that was written by now."""
        if kind == "SQLite":
            return [Path(place.database.removeprefix("sqlite:///"))]
        self._sql("CHECKPOINT")
        with psycopg.connect(place.database) as session:
            sql = "SELECT oid FROM pg_database WHERE datname = current_database()"
            (number,) = session.execute(sql).fetchone() or (0,)
        return list(Path(self.socket, "base", str(number)).iterdir())

    def _sql(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as session:
            session.execute(statement)


@contextmanager
def houses(folder: Path) -> Iterator[Houses]:
    with ExitStack() as stack:
        yield Houses(folder, stack)
