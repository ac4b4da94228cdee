"""Time from the start of a web process to its first response, compared with bare Django."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Final

from benchmarks.dataset.config import Dataset, production_env
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report
from benchmarks.servers import ROOT
from oracle_site.settings import INSTALLED_APPS, MIDDLEWARE

ROUNDS: Final = 9
MAX_RATIO: Final = 1.5
OURS: Final = "Oracle"
FIRST_PARTY: Final = frozenset({"audit", "oracle_site", "verdicts"})
BARE: Final = "bare Django, same apps"
APPLICATIONS: Final = {OURS: "oracle_site.wsgi", BARE: "benchmarks.peers.same_apps"}
# Loads the application as a WSGI server does and sends one request.
SCRIPT: Final = """
import importlib, sys
from wsgiref.util import setup_testing_defaults
application = importlib.import_module(sys.argv[1]).application
environ = {"PATH_INFO": "/healthz", "HTTP_HOST": "127.0.0.1"}
setup_testing_defaults(environ)
statuses = []
list(application(environ, lambda status, headers, *_: statuses.append(status)))
assert statuses == ["200 OK"], statuses
"""
_COLLECT: Final = (sys.executable, "manage.py", "collectstatic", "--no-input", "-v0")
DESCRIPTION: Final = f"""
From the start of the interpreter to the first response, `/healthz`; median of {ROUNDS} interleaved
rounds. The bare project has the admin and all third-party apps and middleware of the site.
""".strip()


def run() -> Section:
    seconds_by_name: dict[str, list[float]] = {name: [] for name in APPLICATIONS}
    with (
        tempfile.TemporaryDirectory(prefix="oracle-bench-") as folder,
        ProgressBar("start-up") as bar,
    ):
        dataset = Dataset(0, f"sqlite:///{folder}/none.sqlite3", f"{folder}/oracle_log.jsonl")
        subprocess.run(
            _COLLECT, cwd=ROOT, env={**os.environ, **production_env(dataset)}, check=True
        )
        envs = {
            OURS: {**os.environ, **production_env(dataset)},
            BARE: {**os.environ, **_third_party_env()},
        }
        for round_number in range(ROUNDS + 1):
            bar.update(round_number, ROUNDS + 1)
            for name, module in APPLICATIONS.items():
                seconds = _startup_seconds(module, envs[name])
                if round_number:  # the first round compiles bytecode
                    seconds_by_name[name].append(seconds)
    median = {name: statistics.median(times) for name, times in seconds_by_name.items()}
    rows = [[name, f"{seconds:.2f} s"] for name, seconds in median.items()]
    ratio = median[OURS] / median[BARE]
    limit = Limit("start-up / bare Django with the same apps", ratio, maximum=MAX_RATIO)
    return Section("Start-up", DESCRIPTION, [Table(["", "time to first response"], rows)], [limit])


def _third_party_env() -> dict[str, str]:
    """The site's apps and middleware without its own, for `benchmarks.peers.same_apps`."""
    lists = {"APPS": INSTALLED_APPS, "MIDDLEWARE": MIDDLEWARE}
    return {
        name: ",".join(one for one in names if one.partition(".")[0] not in FIRST_PARTY)
        for name, names in lists.items()
    }


def _startup_seconds(module: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", SCRIPT, module], cwd=ROOT, env=env, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(print_report(run()))
