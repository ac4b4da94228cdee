"""The site that `make run` runs from this directory: one at a time, and commands find it.

Its URLs are in a file beside the append-only log, locked for as long as it runs. Standard
library only: manage.py calls this before Django's settings are read.
"""

import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LOG_PATH: Final = "var/oracle_log.jsonl"  # the default of ORACLE_LOG_PATH
FILE_NAME: Final = "run.json"
LOCK_TRIES: Final = 5
LOCK_PAUSE: Final = 0.05  # seconds


class AlreadyRunning(Exception):
    """Another `make run` holds the lock; the message is its URL, or empty."""


def run_file(environment: Mapping[str, str]) -> Path:
    return (ROOT / (environment.get("ORACLE_LOG_PATH") or LOG_PATH)).parent / FILE_NAME


def claim(path: Path, urls: Mapping[str, str]) -> None:
    """Lock the file until this process ends; raises AlreadyRunning, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if not _locked(descriptor):
        os.close(descriptor)
        raise AlreadyRunning(_read(path).get("SITE_URL", ""))
    os.truncate(descriptor, 0)
    os.write(descriptor, json.dumps(dict(urls)).encode())


def _locked(descriptor: int) -> bool:
    """Retries for a moment, because running_site() of another command holds the lock briefly."""
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_PAUSE)
        else:
            return True
    return False


def running_site(environment: Mapping[str, str]) -> dict[str, str]:
    """SITE_URL and SANDBOX_URL of the running site; empty if none is running."""
    path = run_file(environment)
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(path)
    except OSError:
        pass  # no such file
    return {}


def _read(path: Path) -> dict[str, str]:
    try:
        urls = json.loads(path.read_text())
    except (OSError, ValueError):  # still being written
        return {}
    return {str(name): str(value) for name, value in urls.items()}
