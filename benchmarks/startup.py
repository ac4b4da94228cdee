"""How long a web process takes from its start to its first answer, beside a bare Django project."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Final

from benchmarks.growth.places import Place, production
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell
from benchmarks.servers import ROOT
from oracle_site.settings import INSTALLED_APPS, MIDDLEWARE

ROUNDS: Final = 9
MAX_RATIO: Final = 1.5
OURS: Final = "Oracle"
OWN: Final = frozenset({"audit", "oracle_site", "verdicts"})
BARE: Final = "bare Django, the same apps"
APPLICATIONS: Final = {OURS: "oracle_site.wsgi", BARE: "benchmarks.peers.same_apps"}
# Starts it as a server would, and asks it one thing.
SCRIPT: Final = """
import importlib, sys
from wsgiref.util import setup_testing_defaults
application = importlib.import_module(sys.argv[1]).application
environ = {"PATH_INFO": "/healthz", "HTTP_HOST": "127.0.0.1"}
setup_testing_defaults(environ)
said = []
list(application(environ, lambda status, headers, *_: said.append(status)))
assert said == ["200 OK"], said
"""
_COLLECT: Final = (sys.executable, "manage.py", "collectstatic", "--no-input", "-v0")
ABOUT: Final = f"""
From the start of the interpreter to the first answer, `/healthz`, in turns, medians of {ROUNDS}.
The bare project has every app and middleware of the site's but its own, and the admin.
""".strip()


def run() -> Section:
    took: dict[str, list[float]] = {name: [] for name in APPLICATIONS}
    with tempfile.TemporaryDirectory(prefix="oracle-bench-") as folder, Progress("start") as shown:
        place = Place(0, f"sqlite:///{folder}/none.sqlite3", f"{folder}/oracle_log.jsonl")
        subprocess.run(_COLLECT, cwd=ROOT, env={**os.environ, **production(place)}, check=True)
        envs = {OURS: {**os.environ, **production(place)}, BARE: {**os.environ, **_others()}}
        for turn in range(ROUNDS + 1):
            shown.share(turn, ROUNDS + 1)
            for name, module in APPLICATIONS.items():
                seconds = _started(module, envs[name])
                if turn:  # the first compiles what was never run
                    took[name].append(seconds)
    median = {name: statistics.median(times) for name, times in took.items()}
    rows = [[name, f"{seconds:.2f} s"] for name, seconds in median.items()]
    ratio = median[OURS] / median[BARE]
    limit = Limit("start-up / that of a bare project of the same apps", ratio, most=MAX_RATIO)
    return Section("Start-up", ABOUT, [Table(["", "until the first answer"], rows)], [limit])


def _others() -> dict[str, str]:
    """What the site is made of and did not write itself."""
    lists = {"APPS": INSTALLED_APPS, "MIDDLEWARE": MIDDLEWARE}
    return {
        name: ",".join(one for one in names if one.partition(".")[0] not in OWN)
        for name, names in lists.items()
    }


def _started(module: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", SCRIPT, module], cwd=ROOT, env=env, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(tell(run()))
