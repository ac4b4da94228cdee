"""Who is measured: this site on both databases, and its peers as far as they are installed."""

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
from benchmarks.growth.places import Place, production
from benchmarks.machine import found, is_installed
from benchmarks.servers import ROOT, free_port, started

SITE_SQLITE: Final = "Oracle, SQLite"
SITE_POSTGRESQL: Final = "Oracle, PostgreSQL"
FASTAPI: Final = "FastAPI with Redis"
NODE: Final = "node in front of FastAPI with Redis"
NGINX: Final = "nginx, one static file"
BARE: Final = ("bare Django, granian", "bare Django, granian, 4 threads", "bare Django, gunicorn")
DRF: Final = ("DRF, row in SQLite", "DRF, row in PostgreSQL", "DRF, Django's Redis cache")


@dataclass(frozen=True)
class Contender:
    name: str
    process: psutil.Process
    url: str
    secure: bool = False


@dataclass
class Stage:
    """Everything that runs meanwhile; ends with the block."""

    folder: Path
    ids: Path
    body: bytes
    stack: ExitStack
    contenders: list[Contender] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # and why

    def start(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        *,
        env: Mapping[str, str] | None = None,
        prefix: str = "",
    ) -> None:
        serving = started(command, port=port, folder=self.folder, env=env)
        process = self.stack.enter_context(serving)
        url = f"http://{servers.HOST}:{port}{prefix}"
        self.contenders.append(Contender(name, process, url))


@contextmanager
def everybody(
    folder: Path, ids: Path, body: bytes, houses: Mapping[str, Place], postgresql: str
) -> Iterator[Stage]:
    """All that can be had here, started. `postgresql` is the server's address, or blank."""
    with ExitStack() as stack:
        stage = Stage(folder, ids, body, stack)
        for name, place in houses.items():
            process, url = stack.enter_context(servers.reader(production(place), folder))
            stage.contenders.append(Contender(name, process, url, secure=True))
        _nginx(stage)
        _bare_django(stage)
        redis = _redis(stage)
        _fastapi(stage, redis)
        _drf(stage, redis, postgresql)
        yield stage


def _nginx(stage: Stage) -> None:
    if not is_installed("nginx"):
        stage.left_out[NGINX] = "nginx is not installed"
        return
    port = free_port()
    stage.start(NGINX, servers.nginx(port, stage.folder, stage.body), port)


def _bare_django(stage: Stage) -> None:
    (stage.folder / "body.json").write_bytes(stage.body)
    env = {"BODY_FILE": str(stage.folder / "body.json")}
    name = "benchmarks.peers.bare_django:application"
    for title, module, threads in zip(
        BARE, ("granian", "granian", "gunicorn"), (1, 4, 4), strict=True
    ):
        if missing := _missing(module):
            stage.left_out[title] = missing
            continue
        port = free_port()
        serve = servers.gunicorn if module == "gunicorn" else servers.granian
        stage.start(title, serve(name, port, threads=threads), port, env=env)


def _redis(stage: Stage) -> str:
    if not is_installed("redis-server") or _missing("redis"):
        return ""
    return stage.stack.enter_context(servers.redis(stage.folder))


def _fastapi(stage: Stage, redis: str) -> None:
    missing = _missing("fastapi", "uvicorn", "orjson", "redis")
    if missing or not redis:
        why = missing or "redis-server is not installed"
        stage.left_out |= {FASTAPI: why, NODE: why}
        return
    _fill("fastapi", stage, {"REDIS_URL": redis})
    port = free_port()
    command = servers.uvicorn("benchmarks.peers.fastapi_redis:app", port)
    stage.start(FASTAPI, command, port, env={"REDIS_URL": redis})
    if not is_installed("node"):
        stage.left_out[NODE] = "node is not installed"
        return
    front = free_port()
    script = str(ROOT / "benchmarks/peers/front.mjs")
    env = {"LISTEN": str(front), "API": str(port)}
    stage.start(NODE, [found("node") or "", script], front, env=env)


def _drf(stage: Stage, redis: str, postgresql: str) -> None:
    wsgi = "benchmarks.peers.plain_drf.wsgi:application"
    in_sqlite = f"sqlite:{stage.folder}/drf.sqlite3"
    for name, database, cache in zip(
        DRF,
        (in_sqlite, f"postgresql:{postgresql}" if postgresql else "", in_sqlite),
        ("", "", redis),
        strict=True,
    ):
        in_cache = "cache" in name
        if not database or (in_cache and not redis):
            stage.left_out[name] = (
                "redis-server is not installed" if in_cache else "there is no PostgreSQL"
            )
            continue
        env = {"DATABASE": database, "REDIS_URL": cache}
        _fill("cache" if in_cache else "rows", stage, env)
        port = free_port()
        prefix = "/cached" if in_cache else ""
        stage.start(name, servers.granian(wsgi, port, threads=1), port, env=env, prefix=prefix)


def _fill(what: str, stage: Stage, env: Mapping[str, str]) -> None:
    """Whatever a peer keeps its verdicts in gets those of the same sessions."""
    command = [sys.executable, "-m", "benchmarks.peers.fill", what, str(stage.ids)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=True)


def _missing(*modules: str) -> str:
    names = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"{', '.join(names)} not installed: requirements-bench.txt" if names else ""
