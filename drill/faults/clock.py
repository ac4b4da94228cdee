"""The site's clock, stepped by libfaketime: from its wheel, or the machine's own.

The wheel `libfaketime` comes with requirements-dev.txt; `apt-get install libfaketime` is for
machines that it was not built for. Only the wall clock is stepped: a step of the real
one leaves the monotonic clock alone as well.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

STEADY: Final = Path(__file__).parent / "steady"  # see there
OF_THE_WHEEL: Final = "vendor/libfaketime/src/libfaketime.so.1"
INSTALLED: Final = "usr/lib/**/faketime/libfaketimeMT.so.1"
FAR: Final = 1_000_000  # seconds


def find_library() -> Path | None:
    """One that works here; None: there is none."""
    return next((path for path in _candidates() if _works(path)), None)


def _candidates() -> Iterator[Path]:
    spec = find_spec("libfaketime")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / OF_THE_WHEEL
    yield from sorted(Path("/").glob(INSTALLED))


def _works(library: Path) -> bool:
    """Whether a process sees another time by it: one of another machine is ignored."""
    if not library.exists():
        return False
    asked = [sys.executable, "-IS", "-c", "import time; print(time.time() - time.monotonic())"]
    there = {"LD_PRELOAD": str(library), "FAKETIME": f"+{FAR}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    told = [
        subprocess.run(asked, env=env, capture_output=True, text=True, check=False).stdout
        for env in ({}, there)
    ]
    return all(told) and float(told[1]) - float(told[0]) > FAR / 2


def _pythonpath() -> list[str]:
    given = os.environ.get("PYTHONPATH")
    return [given] if given else []


class Clock:
    def __init__(self, library: Path, folder: Path) -> None:
        self._file = folder / "clock"
        self.offset = 0
        self.steps: list[int] = []
        self._write()
        self.environment = {
            "LD_PRELOAD": str(library),
            "PYTHONPATH": os.pathsep.join([str(STEADY), *_pythonpath()]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",  # seconds until a step is noticed
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",  # which a killed process would leave behind
            "NO_FAKE_STAT": "1",
        }

    def step(self, seconds: int) -> None:
        """Forward, or back."""
        self.offset += seconds
        self.steps.append(seconds)
        self._write()

    def _write(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_text(f"{self.offset:+d}\n")
        new.rename(self._file)  # nobody reads half of it
