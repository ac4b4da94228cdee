"""Collects the static files of a production site; several web instances share the directory."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.core.management import call_command

UNUSED: Final = ("swagger-ui-dist",)  # the API documentation uses Redoc


def collect(root: Path) -> None:
    """Raises OSError."""
    with locked(root, exclusive=True):
        call_command("collectstatic", verbosity=0, interactive=False, ignore_patterns=[*UNUSED])


@contextmanager
def locked(root: Path, *, exclusive: bool) -> Iterator[None]:
    """Collecting needs the exclusive lock: it writes files and removes some again, and a web
    instance that lists the directory meanwhile would find names without files."""
    root.mkdir(parents=True, exist_ok=True)
    with (root.parent / f"{root.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
