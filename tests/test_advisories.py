"""`make audit` with a local advisory database; the network fence blocks the real ones."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[1]
VULNERABILITY = {
    "id": "PYSEC-2026-1",
    "summary": "Allows\nlogin.",
    "affected": [
        {
            "package": {"name": "requests", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


@pytest.fixture
def database() -> Iterator[Callable[..., str]]:
    """Starts a server with OSV's API that knows vulnerabilities of the named packages; its URL."""
    servers = []

    def serve(*vulnerable: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                listed = query["package"]["name"] in vulnerable
                response = json.dumps({"vulns": [VULNERABILITY]} if listed else {}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(response)))
                self.end_headers()
                self.wfile.write(response)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1/query"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def audit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.advisories", *arguments]
    env = child_env(NO_PROXY="127.0.0.1")
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def pinned() -> dict[str, str]:
    """Package name → pinned version, for this Python and platform."""
    files = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt")
    lines = [line for name in files for line in (ROOT / name).read_text().splitlines()]
    found = [Requirement(line.rstrip("\\")) for line in lines if line[:1].isalnum()]
    used = [one for one in found if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in used}


def test_without_vulnerabilities_every_pinned_package_is_counted(database):
    done = audit("--osv-url", database())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"OSV: 0 known vulnerabilities in {len(pinned())} packages.\n")


def test_a_vulnerability_is_listed_with_the_fixed_version(database):
    done = audit("--osv-url", database("requests"))
    assert done.returncode == 1
    assert (
        f"requests {pinned()['requests']}: PYSEC-2026-1, fixed in 99.1\n  Allows login.\n"
        in done.stdout
    )
    assert "1 known vulnerabilities in " in done.stdout


def test_without_a_reachable_database_the_result_is_unknown():
    done = audit()  # the network fence blocks both
    assert done.returncode == 2
    assert done.stdout.count("  unavailable: ") == 2
    assert done.stdout.endswith("Run this where one can be.\n")
    assert "Traceback" not in done.stdout + done.stderr


def test_unpinned_requirements_are_unknown(database, tmp_path):
    pins = tmp_path / "pins.txt"
    pins.write_text("requests>=2\n")
    done = audit("--pins", str(pins), "--osv-url", database())
    assert done.returncode == 2
    assert "UNKNOWN" in done.stdout
