"""`make test`: every test on SQLite, the database tests on PostgreSQL, then response times.

PostgreSQL comes from a wheel and runs as a temporary server on a Unix socket. Chromium, nginx and
systemd-analyze are installed if they are missing. Each unavailable program is reported in one line
at the end, and is a failure if ORACLE_TEST_STRICT is set.
"""

import os
import subprocess
import sys
from typing import Final

from drill.failures import PostgresqlMissing
from drill.faults.clock import find_library
from drill.sites.postgresql import throwaway_server
from tests.support.browser import BrowserMissing, find_or_install_browser
from tests.support.nginx import bring_nginx
from tests.support.programs import ProgramMissing
from tests.support.systemd_analyze import bring_systemd_analyze

NO_TESTS_COLLECTED: Final = 5  # pytest's exit code
# Two workers per core, because most tests mostly wait. Files are distributed in the order of
# collection, which conftest.py determines.
COUNT: Final = 2 * (os.cpu_count() or 1)
WORKERS: Final = ["-n", str(COUNT), "--dist", "loadfile", "--no-loadscope-reorder"]
IN_PARALLEL: Final = ["-m", "not alone"]
ON_POSTGRESQL: Final = ["-m", "django_db and not once"]
ALONE: Final = ["-m", "alone"]
SELECTIONS: Final = ([], IN_PARALLEL, ON_POSTGRESQL, ALONE)
PASSED_ON = ("PATH", "HOME", "LANG", "LC_", "TMPDIR", "XDG_", "CI", "NO_PROXY", "no_proxy")


def main(arguments: list[str]) -> int:
    missing = []
    try:
        find_or_install_browser()
    except BrowserMissing as error:
        missing.append(f"NOT RUN: the tests in a browser ({error})")
    for bring, tests in ((bring_nginx, "behind nginx"), (bring_systemd_analyze, "of the units")):
        try:
            bring()
        except ProgramMissing as error:
            missing.append(f"NOT RUN: the tests {tests} ({error})")
    if find_library() is None:
        missing.append("NOT RUN: clock steps (no libfaketime works here: pip or apt install it)")
    codes = [run_pytest("SQLite", [*IN_PARALLEL, *arguments])]
    try:
        with throwaway_server() as server:
            codes.append(run_pytest("PostgreSQL", [*ON_POSTGRESQL, *arguments], server.url))
    except PostgresqlMissing as error:
        missing.append(f"NOT RUN: PostgreSQL ({' '.join(str(error).split())})")
    codes.append(run_pytest("Response times", [*ALONE, *arguments], workers=[]))
    for line in missing:
        print(line)
    strict = bool(missing and os.environ.get("ORACLE_TEST_STRICT"))
    return max(codes) or int(strict)


def run_pytest(
    title: str, arguments: list[str], database: str = "", *, workers: list[str] = WORKERS
) -> int:
    print(f"== {title} ==", flush=True)
    # Settings in the caller's environment must not affect the tests.
    env = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    if database:
        env["DATABASE_URL"] = database
    command = [sys.executable, "-m", "pytest", "-q", *workers, *arguments]
    code = subprocess.run(command, env=env, check=False).returncode
    # An empty selection is acceptable only if it is the caller's.
    return 0 if code == NO_TESTS_COLLECTED and arguments not in SELECTIONS else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
