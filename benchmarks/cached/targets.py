"""The servers under load: this site on both databases, and its peers that are installed."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from benchmarks import servers
from benchmarks.dataset.config import Dataset, production_env
from benchmarks.machine import find_program, is_installed
from benchmarks.servers import ROOT, free_port, running_server

SITE_SQLITE: Final = "Oracle, SQLite"
SITE_POSTGRESQL: Final = "Oracle, PostgreSQL"
FASTAPI: Final = "FastAPI with Redis"
NODE: Final = "node in front of FastAPI with Redis"
NGINX: Final = "nginx, one static file"
BARE: Final = ("bare Django, granian", "bare Django, granian, 4 threads", "bare Django, gunicorn")
DRF: Final = ("DRF, row in SQLite", "DRF, row in PostgreSQL", "DRF, Django's Redis cache")


@dataclass(frozen=True)
class Target:
    name: str
    process: psutil.Process
    url: str
    secure: bool = False


@dataclass
class RunningTargets:
    """All started servers; `stack` stops them."""

    folder: Path
    ids: Path
    body: bytes
    stack: ExitStack
    targets: list[Target] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # reason by name

    def start(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        *,
        env: Mapping[str, str] | None = None,
        prefix: str = "",
    ) -> None:
        server = running_server(command, port=port, folder=self.folder, env=env)
        process = self.stack.enter_context(server)
        url = f"http://{servers.HOST}:{port}{prefix}"
        self.targets.append(Target(name, process, url))


@contextmanager
def start_targets(
    folder: Path, ids: Path, body: bytes, datasets: Mapping[str, Dataset], postgresql: str
) -> Iterator[RunningTargets]:
    """Start every server that is installed. `postgresql` is `host,database` for DRF, or blank."""
    with ExitStack() as stack:
        running = RunningTargets(folder, ids, body, stack)
        for name, dataset in datasets.items():
            reader = servers.running_reader(production_env(dataset), folder)
            process, url = stack.enter_context(reader)
            running.targets.append(Target(name, process, url, secure=True))
        _nginx(running)
        _bare_django(running)
        redis = _redis(running)
        _fastapi(running, redis)
        _drf(running, redis, postgresql)
        yield running


def _nginx(running: RunningTargets) -> None:
    if not is_installed("nginx"):
        running.skipped[NGINX] = "nginx is not installed"
        return
    port = free_port()
    running.start(NGINX, servers.nginx(port, running.folder, running.body), port)


def _bare_django(running: RunningTargets) -> None:
    (running.folder / "body.json").write_bytes(running.body)
    env = {"BODY_FILE": str(running.folder / "body.json")}
    application = "benchmarks.peers.bare_django:application"
    for title, module, threads in zip(
        BARE, ("granian", "granian", "gunicorn"), (1, 4, 4), strict=True
    ):
        if missing := _missing(module):
            running.skipped[title] = missing
            continue
        port = free_port()
        command = servers.gunicorn if module == "gunicorn" else servers.granian
        running.start(title, command(application, port, threads=threads), port, env=env)


def _redis(running: RunningTargets) -> str:
    if not is_installed("redis-server") or _missing("redis"):
        return ""
    return running.stack.enter_context(servers.running_redis(running.folder))


def _fastapi(running: RunningTargets, redis: str) -> None:
    missing = _missing("fastapi", "uvicorn", "orjson", "redis")
    if missing or not redis:
        reason = missing or "redis-server is not installed"
        running.skipped |= {FASTAPI: reason, NODE: reason}
        return
    _fill("fastapi", running, {"REDIS_URL": redis})
    port = free_port()
    command = servers.uvicorn("benchmarks.peers.fastapi_redis:app", port)
    running.start(FASTAPI, command, port, env={"REDIS_URL": redis})
    if not is_installed("node"):
        running.skipped[NODE] = "node is not installed"
        return
    proxy_port = free_port()
    script = str(ROOT / "benchmarks/peers/node_proxy.mjs")
    env = {"LISTEN": str(proxy_port), "API": str(port)}
    running.start(NODE, [find_program("node") or "", script], proxy_port, env=env)


def _drf(running: RunningTargets, redis: str, postgresql: str) -> None:
    wsgi = "benchmarks.peers.plain_drf.wsgi:application"
    in_sqlite = f"sqlite:{running.folder}/drf.sqlite3"
    for name, database, cache in zip(
        DRF,
        (in_sqlite, f"postgresql:{postgresql}" if postgresql else "", in_sqlite),
        ("", "", redis),
        strict=True,
    ):
        in_cache = "cache" in name
        if not database or (in_cache and not redis):
            no_redis = _missing("redis") or "redis-server is not installed"
            running.skipped[name] = no_redis if in_cache else "PostgreSQL is not available"
            continue
        env = {"DATABASE": database, "REDIS_URL": cache}
        _fill("cache" if in_cache else "rows", running, env)
        port = free_port()
        prefix = "/cached" if in_cache else ""
        running.start(name, servers.granian(wsgi, port, threads=1), port, env=env, prefix=prefix)


def _fill(storage: str, running: RunningTargets, env: Mapping[str, str]) -> None:
    """Store the verdicts of the same sessions in a peer's storage."""
    command = [sys.executable, "-m", "benchmarks.peers.fill", storage, str(running.ids)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=True)


def _missing(*modules: str) -> str:
    names = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"{', '.join(names)} not installed, see requirements-bench.txt" if names else ""
