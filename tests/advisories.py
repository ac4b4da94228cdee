"""`make audit`: has any pinned package a known hole? Asks PyPI's advisories, or else OSV's.

Exit code 0: none is known. 1: the table says which, and what mends it. 2: nobody
could be asked, or nobody knows a package, so this says nothing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINS = [ROOT / "requirements-bench.txt"]  # it holds the packages of the other two as well
SERVICES = {"pypi": "PyPI", "osv": "OSV"}
OSV = "https://api.osv.dev/v1/query"
REQUEST_TIMEOUT = 15  # seconds for one answer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument(
        "--pins", type=Path, nargs="+", default=PINS, help="files, every line exact"
    )
    parser.add_argument("--osv-url", default=OSV, help="a mirror of OSV's interface")
    given = parser.parse_args(arguments)
    for service, name in SERVICES.items():
        print(f"Asking {name} ...", flush=True)
        try:
            found = ask(service, given.pins, given.osv_url or OSV)
        except NoAnswer as error:
            print(f"  no answer: {error}")
            continue
        return report(name, found)
    print("NOT KNOWN: no database of advisories could be asked. Run it where one can be reached.")
    return 2


class NoAnswer(Exception):
    """Why nothing is known."""


def ask(service: str, pins: list[Path], osv_url: str) -> list[dict[str, Any]]:
    """What pip-audit found of each pinned package."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, "-m", "pip_audit"]
        for path in pins:
            command += ["--requirement", str(path)]
        command += ["--no-deps", "--disable-pip", "--progress-spinner", "off"]
        command += ["--vulnerability-service", service, "--osv-url", osv_url]
        command += ["--timeout", str(REQUEST_TIMEOUT), "--cache-dir", folder]
        command += ["--format", "json", "--output", str(answer)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        # It ends with 1 where there are holes, and where it could not ask.
        if not answer.exists():
            said = [line for line in done.stderr.splitlines() if line.strip()]
            why = said[-1].partition(" (Caused by")[0] if said else f"code {done.returncode}"
            raise NoAnswer(why[:160])
        found: list[dict[str, Any]] = json.loads(answer.read_text())["dependencies"]
    if all("skip_reason" in one for one in found):  # a mirror of packages, without their advisories
        raise NoAnswer("it knows none of the packages")
    return found


def report(name: str, found: list[dict[str, Any]]) -> int:
    unknown = [f"{one['name']}: {one['skip_reason']}" for one in found if "skip_reason" in one]
    holes = [(one, hole) for one in found for hole in one.get("vulns", ())]
    for one, hole in holes:
        mends = ", ".join(hole["fix_versions"]) or "nothing yet"
        print(f"{one['name']} {one['version']}: {hole['id']}, mended in {mends}")
        print(f"  {' '.join(hole['description'].split())[:200]}")
    for line in unknown:
        print(f"NOT KNOWN: {line}")
    asked = len(found) - len(unknown)
    print(f"{name}: {len(holes) or 'no'} known hole{'s' * (len(holes) > 1)} in {asked} packages.")
    return 1 if holes else 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
