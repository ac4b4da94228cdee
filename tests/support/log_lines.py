"""Writes, reads and rotates a log file."""

from pathlib import Path

from django.db import transaction

from audit.log import log
from tests.support.log_entries import checked


def append(count: int = 1) -> None:
    with transaction.atomic():
        for _ in range(count):
            log.append(checked())


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def rotate(path: Path, name: str) -> Path:
    return path.rename(path.with_name(path.name + name))
