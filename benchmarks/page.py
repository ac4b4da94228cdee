"""docs/BENCHMARKS.md: everything that one run found, with when, where and what it ran on."""

import importlib.metadata
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.machine import describe, version_of
from benchmarks.report import Section, headline, in_markdown, limits_table, rows_of

PACKAGES: Final = (
    *("Django", "djangorestframework", "granian", "psycopg", "gunicorn"),
    *("fastapi", "uvicorn", "uvloop", "redis", "hiredis", "orjson", "pydantic", "jsonschema"),
)
PROGRAMS: Final[Mapping[str, Sequence[str]]] = {
    "nginx": ("-v",),
    "redis-server": ("--version",),
    "node": ("--version",),
    "wrk": ("--version",),
}
HEAD: Final = """\
# Benchmarks

Written by `make bench`, all of it in one run. What counts are the ratios: every figure stands
beside its peers on the same machine in the same hour. `make bench ARGS="--help"` tells how to run a
part of it.
"""


def page(sections: Sequence[Section], *, began: datetime, postgresql: str = "") -> str:
    """`postgresql` is the version of the server that was measured; blank without one."""
    limits = [limit for section in sections for limit in section.limits]
    machine = rows_of_machine(began, postgresql)
    parts = [HEAD, *machine, "", "## Limits", "", headline(limits), ""]
    parts += [*rows_of(limits_table(limits)), ""]
    parts += [in_markdown(section) for section in sections]
    return "\n".join(parts).rstrip() + "\n"


def rows_of_machine(began: datetime, postgresql: str) -> list[str]:
    took = (datetime.now(UTC) - began).total_seconds() / 60
    return [
        "| | |",
        "|---|---|",
        f"| When | {began:%Y-%m-%d %H:%M} UTC, {took:.0f} minutes |",
        f"| Machine | {describe()} |",
        f"| Versions | {', '.join(versions(postgresql))} |",
    ]


def versions(postgresql: str) -> list[str]:
    found = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    found += [f"PostgreSQL {postgresql}"] if postgresql else []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    for program, arguments in PROGRAMS.items():
        if version := version_of(program, *arguments):
            found.append(f"{program} {version}")
    return found


def write(target: Path, text: str, sections: Sequence[Section]) -> None:
    """The page, and its pictures beside it in images/."""
    images = target.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for picture in section.pictures:
            (images / picture.name).write_text(picture.svg)
    target.write_text(text)
