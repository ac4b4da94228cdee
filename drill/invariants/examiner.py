"""Looks into the drilled site's database, for who has another one or none.

`python -m drill.invariants.examiner` is a process of its own with the site's settings: a
question as a line of JSON in, its answer as a line of JSON out.
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

from drill.failures import DatabaseAway
from drill.sites.site import clean_environment
from drill.sites.units import ROOT

TRIES: Final = 30
PAUSE: Final = 1.0  # seconds


class Examiner:
    def __init__(self, environment: Mapping[str, str], *, said: Path) -> None:
        with said.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "drill.invariants.examiner"],
                cwd=ROOT,
                env=clean_environment(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._said = said
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._process.communicate()

    def ask(self, question: str, **about: Any) -> Any:
        """Raises DatabaseAway, where that is why there is no answer."""
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("a process without pipes")
        with self._lock:
            self._process.stdin.write(f"{json.dumps({'question': question, **about})}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the examiner ended by itself: see {self._said}")
        told = json.loads(line)
        if "error" in told:
            raise DatabaseAway(told["error"])
        return told["answer"]

    def insist(self, question: str, **about: Any) -> Any:
        """As `ask`, of a database that may be away for a moment."""
        for _ in range(TRIES):
            with suppress(DatabaseAway):
                return self.ask(question, **about)
            time.sleep(PAUSE)
        return self.ask(question, **about)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    django.setup()
    questions = import_module("drill.invariants.questions").QUESTIONS  # which need the settings
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"answer": questions[asked.pop("question")](**asked)}
        except Error as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        close_old_connections()
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
