"""Access to the drilled site's database from a process that is configured for another one.

`python -m drill.invariants.inspector` runs with the site's settings. A method and its arguments
come in as one line of JSON, the result goes out as one line of JSON.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self

import django
from django.db import Error, close_old_connections

from drill.failures import DatabaseUnreachable
from drill.sites.processes import ROOT
from drill.sites.site import clean_environment

MAX_TRIES: Final = 30
RETRY_PAUSE: Final = 1.0  # seconds


class Inspector:
    """The client of such a process, which ends with the block. Thread-safe."""

    def __init__(self, environment: Mapping[str, str], *, errors: Path) -> None:
        with errors.open("ab") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "drill.invariants.inspector"],
                cwd=ROOT,
                env=clean_environment(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        self._errors = errors
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._process.communicate()

    def call(self, method: str, **arguments: Any) -> Any:
        """Raises DatabaseUnreachable."""
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("a process without pipes")
        with self._lock:
            self._process.stdin.write(f"{json.dumps({'method': method, **arguments})}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the inspector has ended: see {self._errors}")
        response = json.loads(line)
        if "error" in response:
            raise DatabaseUnreachable(response["error"])
        return response["result"]

    def call_with_retry(self, method: str, **arguments: Any) -> Any:
        """As `call`, with retries while the database is unreachable."""
        for _ in range(MAX_TRIES):
            with suppress(DatabaseUnreachable):
                return self.call(method, **arguments)
            time.sleep(RETRY_PAUSE)
        return self.call(method, **arguments)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    django.setup()
    methods = import_module("drill.invariants.inspector_methods").METHODS  # needs the settings
    for line in sys.stdin:
        request = json.loads(line)
        try:
            response = {"result": methods[request.pop("method")](**request)}
        except Error as error:
            response = {"error": f"{type(error).__name__}: {error}"}
        close_old_connections()
        sys.stdout.write(f"{json.dumps(response)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
