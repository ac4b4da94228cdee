"""`make run`, as a person who types it meets it."""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import psutil
import pytest

from drill.sites.child_env import child_env
from drill.sites.processes import ROOT, Program, running, wait_for
from drill.sites.site import free_port, responds

CTRL_C = b"\x03"
PROCESSES = ("sandbox", "web", "generate", "worker")


def command(port: int | str, *arguments: str) -> list[str]:
    ports = ["--port", str(port), "--sandbox-port", str(free_port())]
    return [sys.executable, "-m", "oracle_site.dev.dev_setup", *ports, *arguments]


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """A database and a log of its own, as in another folder."""
    return {
        "DATABASE_URL": f"sqlite:///{tmp_path}/run.sqlite3",
        "ORACLE_LOG_PATH": str(tmp_path / "oracle_log.jsonl"),
    }


def fetch(url: str, browser: urllib.request.OpenerDirector | None = None, **form: str) -> str:
    browser = browser or urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = urllib.parse.urlencode(form).encode() if form else None
    with browser.open(url, data, timeout=30) as answer:
        return answer.read().decode()


def test_the_site_answers_on_a_fresh_database_and_ends_as_a_whole(own):
    port = free_port()
    with running(command(port), **own) as program:
        assert f"http://127.0.0.1:{port}/" in program.wait_for_output("Site")
        wait_for(lambda: responds(f"http://127.0.0.1:{port}/"))
        assert "CA$5.00" in fetch(f"http://127.0.0.1:{port}/")
        assert fetch(f"http://127.0.0.1:{port}/static/oracle.css")
        code, output = program.end(signal.SIGTERM)
        assert code == 143  # honcho's, which the Makefile takes for success
        assert "Traceback" not in output
        wait_for(lambda: program.alive() == [])


def test_the_admin_opens_with_the_kept_password(own, tmp_path):
    port = free_port()
    with running(command(port), **own) as program:
        told = program.wait_for_output("Stop")
        assert f"as admin, the password is in {tmp_path}/admin-password" in told
        wait_for(lambda: responds(f"http://127.0.0.1:{port}/healthz"))
        browser = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )
        address = f"http://127.0.0.1:{port}/admin/login/?next=/admin/"
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', fetch(address, browser)).group(1)
        password = (tmp_path / "admin-password").read_text().strip()
        page = fetch(
            address, browser, csrfmiddlewaretoken=token, username="admin", password=password
        )
        assert "Log out" in page


def test_commands_find_the_site_of_their_folder_and_a_second_one_is_refused(own):
    port = free_port()
    sandbox = free_port()
    script = [sys.executable, "-m", "oracle_site.dev.dev_setup", "--port", str(port)]
    # The port of the sandbox is a setting of its own, too.
    with running(script, SANDBOX_URL=f"http://127.0.0.1:{sandbox}", **own) as program:
        program.wait_for_output("Stop")
        wait_for(lambda: responds(f"http://127.0.0.1:{port}/healthz"))
        wait_for(lambda: responds(f"http://127.0.0.1:{sandbox}/_control/health"))
        smoke = manage("smoke_test", **own)
        assert smoke.returncode == 0, smoke.stdout + smoke.stderr
        second = start(own, str(free_port()))
        assert second.returncode == 1
        assert second.stderr == (
            f"Oracle is running from this folder already, at http://127.0.0.1:{port}: "
            "stop that one first.\n"
        )


def test_without_a_running_site_a_command_keeps_its_defaults(own, tmp_path):
    (tmp_path / "run.json").write_text('{"SITE_URL": "http://127.0.0.1:1"}')  # of one that ended
    shown = manage("shell", "--no-imports", "-c", SITE_URL, **own)
    assert shown.stdout.strip() == "http://127.0.0.1:8000"


SITE_URL = "from django.conf import settings; print(settings.SITE_URL)"


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=child_env(**environment),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_hangup_ends_the_whole_run(own):
    """As by a terminal that is closed, which reaches honcho too."""
    with running(command(free_port()), **own) as program:
        wait_for_all(program)
        # Selected before the first signal: after it the others end, and have no command line.
        reached = [
            one
            for one in program.alive()
            if "honcho" in one.cmdline() or one.pid == program.process.pid
        ]
        for one in reached:
            one.send_signal(signal.SIGHUP)
        program.process.wait(timeout=30)
        wait_for(lambda: program.alive() == [])


def test_a_process_that_dies_ends_the_whole_run(own):
    with running(command(free_port()), **own) as program:
        wait_for_all(program)
        wait_for(lambda: mains(program.alive(), "worker"))
        (worker, *_) = mains(program.alive(), "worker")
        worker.kill()
        program.process.wait(timeout=30)
        assert program.process.returncode != 0
        wait_for(lambda: program.alive() == [])


def wait_for_all(program: Program) -> None:
    """honcho ends everything only once it has started everything."""
    for name in PROCESSES:
        program.wait_for_output(f"{name}.1 started")


def mains(processes: list[psutil.Process], word: str) -> list[psutil.Process]:
    """Oldest first."""
    found = [one for one in processes if one.is_running() and word in one.cmdline()[2:3]]
    return sorted(found, key=lambda one: (one.create_time(), one.pid))


def test_ctrl_c_on_a_terminal_is_quiet_and_the_password_is_shown(own, tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, command(free_port()), child_env(**own))
    shown = b""
    try:
        while not all(f"{name}.1 started".encode() in shown for name in PROCESSES):
            shown += os.read(terminal, 1024)
        os.write(terminal, CTRL_C)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        shown += os.read(terminal, 65536)
    finally:
        os.close(terminal)
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)
    assert code == 130
    assert (tmp_path / "admin-password").read_bytes().strip() in shown
    assert b"Traceback" not in shown


@pytest.mark.parametrize("port", ["0x50", "99999", "0", "abc"])
def test_a_port_that_is_none_is_refused(own, port):
    run = start(own, port)
    assert run.returncode != 0
    assert run.stderr.startswith(f"A port is a whole number from 1 to 65535, not {port!r}")


def test_the_sandbox_needs_a_port_of_its_own(own):
    port = str(free_port())
    run = start(own, port, "--sandbox-port", port)
    assert (run.returncode, len(run.stderr.splitlines())) == (1, 1)
    assert "cannot share port" in run.stderr


def test_a_taken_port_ends_with_one_sentence(own):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = start(own, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "choose others with `make run PORT=8001 SANDBOX_PORT=8011`" in run.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"DEBUG": "perhaps"}, "Oracle does not start: DEBUG must be 1 or 0"),
        ({"DATABASE_URL": "sqlite:////no/such/folder/x"}, "The database could not be set up:"),
        ({"ORACLE_LOG_PATH": "/proc/no/log"}, "The folder of ORACLE_LOG_PATH cannot be used:"),
    ],
)
def test_what_prevents_a_start_is_one_sentence(own, environment, sentence):
    run = start({**own, **environment}, str(free_port()))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith(sentence)


def start(environment: dict[str, str], port: str, *arguments: str) -> subprocess.CompletedProcess:
    """A start that is expected to fail."""
    return subprocess.run(
        command(port, *arguments),
        cwd=ROOT,
        env=child_env(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
