"""`make test`: every test on SQLite and in a browser, and the database tests on PostgreSQL.

PostgreSQL comes from a wheel and runs as a throwaway server that listens on a
socket in a temporary folder only. The browser is the machine's Chromium, or one
that can be brought here. What cannot be had on this machine is named in one
line at the end; with ORACLE_TEST_STRICT set that line is a failure.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import IO, Final, NamedTuple

from drill.clock import find_library
from drill.failures import PostgresqlMissing
from drill.postgresql import throwaway_server
from tests.browser import BrowserMissing, bring_browser

NOTHING_SELECTED = 5
KEPT = ("PATH", "HOME", "LANG", "LC_", "TMPDIR", "XDG_", "CI", "NO_PROXY", "no_proxy")


def main(arguments: list[str]) -> int:
    missing = []
    try:
        bring_browser()
    except BrowserMissing as error:
        missing.append(f"NOT RUN: the tests in a browser ({error})")
    if find_library() is None:
        missing.append("NOT RUN: clock steps (no libfaketime works here: pip or apt install it)")
    with ThreadPoolExecutor(AT_ONCE) as beside:
        told = list(beside.map(lambda part: run_part(part, arguments), PARTS))
    missing += [one.missing for one in told if one.missing]
    for line in missing:
        print(line)
    strict = bool(missing and os.environ.get("ORACLE_TEST_STRICT"))
    return max(one.code for one in told) or int(strict)


PLAIN: Final = "not browser and not site"
SITES: Final = "site and not browser"
DATABASE: Final = "django_db and not site and not once"


class Part(NamedTuple):
    title: str
    mark: str
    share: str = "1/1"
    on_postgresql: bool = False


class Told(NamedTuple):
    code: int
    missing: str = ""  # what could not be had


# Side by side, since most tests wait for something most of the time; the longest first, so that
# they end at about the same time.
AT_ONCE: Final = 4
PARTS: Final = (
    Part("Whole sites, PostgreSQL", f"{SITES} and django_db and not once", on_postgresql=True),
    Part("SQLite, 3 of 3", PLAIN, share="3/3"),
    Part("Browser", "browser"),
    Part("SQLite, 2 of 3", PLAIN, share="2/3"),
    Part("SQLite, 1 of 3", PLAIN, share="1/3"),
    Part("PostgreSQL, 3 of 3", DATABASE, share="3/3", on_postgresql=True),
    Part("PostgreSQL, 2 of 3", DATABASE, share="2/3", on_postgresql=True),
    Part("Whole sites, 4 of 4", SITES, share="4/4"),
    Part("Whole sites, 3 of 4", SITES, share="3/4"),
    Part("Whole sites, 1 of 4", SITES, share="1/4"),
    Part("Whole sites, 2 of 4", SITES, share="2/4"),
    Part("PostgreSQL, 1 of 3", DATABASE, share="1/3", on_postgresql=True),
)


def run_part(part: Part, arguments: list[str]) -> Told:
    """What is said is kept back until its end, so that no two talk at once."""
    print(f"{part.title} ...", flush=True)
    chosen = ["-m", part.mark, "--share", part.share]
    with tempfile.TemporaryFile("w+") as said:
        try:
            with postgresql() if part.on_postgresql else nullcontext() as url:
                code = run_pytest([*chosen, *arguments], said, url)
        except PostgresqlMissing as error:
            return Told(0, f"NOT RUN: {part.title} ({' '.join(str(error).split())})")
        said.seek(0)
        print(f"\n== {part.title} ==\n{said.read()}", flush=True)
    # Nothing was selected: the caller's choice, where there are arguments, else a fault.
    return Told(0 if code == NOTHING_SELECTED and arguments else code)


def run_pytest(arguments: list[str], said: IO[str], database: str | None) -> int:
    # The caller's own settings must not decide what is tested.
    env = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    if database:
        env["DATABASE_URL"] = database
    return subprocess.run(command, env=env, stdout=said, stderr=said, check=False).returncode


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the block."""
    with throwaway_server() as server:
        yield server.url


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
