"""`make audit`: do pinned packages have known vulnerabilities? Asks PyPI, or else OSV.

Exit code 0: none known. 1: some, listed with the versions that fix them. 2: unknown, because no
database could be reached, or it does not know a package.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINS = [ROOT / "requirements-bench.txt"]  # includes the packages of the other two
SERVICES = {"pypi": "PyPI", "osv": "OSV"}
OSV = "https://api.osv.dev/v1/query"
REQUEST_TIMEOUT = 15  # seconds


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument(
        "--pins", type=Path, nargs="+", default=PINS, help="fully pinned requirements files"
    )
    parser.add_argument("--osv-url", default=OSV, help="URL of OSV's API or a mirror")
    options = parser.parse_args(arguments)
    for service, name in SERVICES.items():
        print(f"Asking {name} ...", flush=True)
        try:
            found = ask(service, options.pins, options.osv_url or OSV)
        except Unavailable as error:
            print(f"  unavailable: {error}")
            continue
        return report(name, found)
    print("UNKNOWN: no advisory database could be reached. Run this where one can be.")
    return 2


class Unavailable(Exception):
    """The message says why the database gave no result."""


def ask(service: str, pins: list[Path], osv_url: str) -> list[dict[str, Any]]:
    """pip-audit's result for each pinned package."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "output.json")
        command = [sys.executable, "-m", "pip_audit"]
        for path in pins:
            command += ["--requirement", str(path)]
        command += ["--no-deps", "--disable-pip", "--progress-spinner", "off"]
        command += ["--vulnerability-service", service, "--osv-url", osv_url]
        command += ["--timeout", str(REQUEST_TIMEOUT), "--cache-dir", folder]
        command += ["--format", "json", "--output", str(output)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        # Its exit code is 1 both for vulnerabilities and for connection errors.
        if not output.exists():
            lines = [line for line in run.stderr.splitlines() if line.strip()]
            reason = lines[-1].partition(" (Caused by")[0] if lines else f"code {run.returncode}"
            raise Unavailable(reason[:160])
        found: list[dict[str, Any]] = json.loads(output.read_text())["dependencies"]
    if all("skip_reason" in one for one in found):  # a package mirror without advisories
        raise Unavailable("it knows none of the packages")
    return found


def report(name: str, found: list[dict[str, Any]]) -> int:
    unknown = [f"{one['name']}: {one['skip_reason']}" for one in found if "skip_reason" in one]
    vulnerable = [(one, each) for one in found for each in one.get("vulns", ())]
    for one, vulnerability in vulnerable:
        fixes = ", ".join(vulnerability["fix_versions"]) or "no version yet"
        print(f"{one['name']} {one['version']}: {vulnerability['id']}, fixed in {fixes}")
        print(f"  {' '.join(vulnerability['description'].split())[:200]}")
    for line in unknown:
        print(f"UNKNOWN: {line}")
    checked = len(found) - len(unknown)
    print(f"{name}: {len(vulnerable)} known vulnerabilities in {checked} packages.")
    return 1 if vulnerable else 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
