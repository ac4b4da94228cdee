"""Renders docs/BENCHMARKS.md: the results of one run, with date, machine and versions."""

import importlib.metadata
import platform
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.machine import describe_machine, program_version
from benchmarks.report import Section, as_markdown, limits_table, markdown_rows, summary_line

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

Written by `make bench` in a single run. Compare ratios, not absolute numbers: every result stands
beside its peers, measured on the same machine in the same hour. `make bench ARGS="--help"` shows
how to run only a part.
"""


def render_page(sections: Sequence[Section], *, began: datetime, postgresql: str = "") -> str:
    """`postgresql` is the version of the measured server; blank if none was used."""
    limits = [limit for section in sections for limit in section.limits]
    parts = [HEAD, *_environment_rows(began, postgresql), "", "## Limits", ""]
    parts += [summary_line(limits), "", *markdown_rows(limits_table(limits)), ""]
    parts += [as_markdown(section) for section in sections]
    return "\n".join(parts).rstrip() + "\n"


def _environment_rows(began: datetime, postgresql: str) -> list[str]:
    minutes = (datetime.now(UTC) - began).total_seconds() / 60
    return [
        "| | |",
        "|---|---|",
        f"| When | {began:%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes |",
        f"| Machine | {describe_machine()} |",
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
        if version := program_version(program, *arguments):
            found.append(f"{program} {version}")
    return found


def write_page(target: Path, text: str, sections: Sequence[Section]) -> None:
    """Write the page, and its plots to images/ beside it."""
    images = target.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for plot in section.plots:
            (images / plot.file_name).write_text(plot.svg)
    target.write_text(text)
