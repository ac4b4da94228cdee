"""Steps the site's clock by libfaketime, from its wheel or an installed package.

The wheel `libfaketime` comes with requirements-dev.txt; `apt-get install libfaketime` is for
machines that it was not built for. Only the wall clock is stepped: a real clock step leaves the
monotonic clock alone too.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

COMPATIBILITY: Final = Path(__file__).parent / "libfaketime_compat"  # see its sitecustomize
WHEEL_LIBRARY: Final = "vendor/libfaketime/src/libfaketime.so.1"
INSTALLED_LIBRARY: Final = "usr/lib/**/faketime/libfaketimeMT.so.1"
TEST_OFFSET: Final = 1_000_000  # seconds


def find_library() -> Path | None:
    """The first libfaketime that works on this machine."""
    return next((path for path in _candidates() if _works(path)), None)


def _candidates() -> Iterator[Path]:
    spec = find_spec("libfaketime")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / WHEEL_LIBRARY
    yield from sorted(Path("/").glob(INSTALLED_LIBRARY))


def _works(library: Path) -> bool:
    """Whether it shifts a process's clock: the loader ignores a library built for another CPU."""
    if not library.exists():
        return False
    command = [sys.executable, "-IS", "-c", "import time; print(time.time() - time.monotonic())"]
    faked = {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"+{TEST_OFFSET}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    printed = [
        subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout
        for env in ({}, faked)
    ]
    return all(printed) and float(printed[1]) - float(printed[0]) > TEST_OFFSET / 2


def _pythonpath() -> list[str]:
    given = os.environ.get("PYTHONPATH")
    return [given] if given else []


class Clock:
    """The clock of every process that is started with `environment`."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._file = folder / "clock"
        self.offset = 0
        self._write()
        self.environment = {
            "LD_PRELOAD": str(library),
            "PYTHONPATH": os.pathsep.join([str(COMPATIBILITY), *_pythonpath()]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",  # seconds until processes notice a step
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",  # a killed process would leave it behind
            "NO_FAKE_STAT": "1",
        }

    def step(self, seconds: int) -> None:
        """Forward, or back if negative."""
        self.offset += seconds
        self._write()

    def _write(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(f"{self.offset:+d}\n")
        new.rename(self._file)  # atomic: no process reads a partial offset
