"""`make audit`, with a database of advisories on this machine; the others are beyond the fence."""

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
HOLE = {
    "id": "PYSEC-2026-1",
    "summary": "Lets anybody\nin.",
    "affected": [
        {
            "package": {"name": "requests", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


@pytest.fixture
def database() -> Iterator[Callable[..., str]]:
    """OSV's interface, with holes in the packages named; its address."""
    servers = []

    def serve(*with_holes: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                has_one = asked["package"]["name"] in with_holes
                answer = json.dumps({"vulns": [HOLE]} if has_one else {}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

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
    """The version of each package that this Python on this machine is given."""
    files = ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt")
    lines = [line for name in files for line in (ROOT / name).read_text().splitlines()]
    found = [Requirement(line.rstrip("\\")) for line in lines if line[:1].isalnum()]
    used = [one for one in found if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in used}


def test_without_a_known_hole_it_says_so_of_every_pin(database):
    done = audit("--osv-url", database())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"OSV: no known hole in {len(pinned())} packages.\n")


def test_a_hole_is_named_with_what_mends_it(database):
    done = audit("--osv-url", database("requests"))
    assert done.returncode == 1
    assert (
        f"requests {pinned()['requests']}: PYSEC-2026-1, mended in 99.1\n  Lets anybody in.\n"
        in done.stdout
    )
    assert "1 known hole in " in done.stdout


def test_where_nobody_can_be_asked_it_says_that_nothing_is_known():
    done = audit()  # both are beyond the fence
    assert done.returncode == 2
    assert done.stdout.count("  no answer: ") == 2
    assert done.stdout.endswith("Run it where one can be reached.\n")
    assert "Traceback" not in done.stdout + done.stderr


def test_pins_that_cannot_be_read_are_no_clean_bill(database, tmp_path):
    pins = tmp_path / "pins.txt"
    pins.write_text("requests>=2\n")
    done = audit("--pins", str(pins), "--osv-url", database())
    assert done.returncode == 2
    assert "NOT KNOWN" in done.stdout
