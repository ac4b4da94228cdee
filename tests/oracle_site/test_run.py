"""`make run` end to end."""

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
def paths(tmp_path: Path) -> dict[str, str]:
    """Database and log paths in a temporary directory."""
    return {
        "DATABASE_URL": f"sqlite:///{tmp_path}/run.sqlite3",
        "ORACLE_LOG_PATH": str(tmp_path / "oracle_log.jsonl"),
    }


def fetch(url: str, browser: urllib.request.OpenerDirector | None = None, **form: str) -> str:
    browser = browser or urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = urllib.parse.urlencode(form).encode() if form else None
    with browser.open(url, data, timeout=30) as answer:
        return answer.read().decode()


def test_the_site_answers_on_a_new_database_and_all_processes_end(paths):
    port = free_port()
    with running(command(port), **paths) as program:
        assert f"http://127.0.0.1:{port}/" in program.wait_for_output("Site")
        wait_for(lambda: responds(f"http://127.0.0.1:{port}/"))
        assert "CA$5.00" in fetch(f"http://127.0.0.1:{port}/")
        assert fetch(f"http://127.0.0.1:{port}/static/oracle.css")
        code, output = program.end(signal.SIGTERM)
        assert code == 143  # honcho's, which the Makefile treats as success
        assert "Traceback" not in output
        wait_for(lambda: program.alive() == [])


def test_the_admin_accepts_the_stored_password(paths, tmp_path):
    port = free_port()
    with running(command(port), **paths) as program:
        output = program.wait_for_output("Stop")
        assert f"as admin, the password is in {tmp_path}/admin-password" in output
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


def test_commands_find_the_running_site_and_a_second_one_is_rejected(paths):
    port = free_port()
    sandbox = free_port()
    script = [sys.executable, "-m", "oracle_site.dev.dev_setup", "--port", str(port)]
    # SANDBOX_URL sets the sandbox's port.
    with running(script, SANDBOX_URL=f"http://127.0.0.1:{sandbox}", **paths) as program:
        program.wait_for_output("Stop")
        wait_for(lambda: responds(f"http://127.0.0.1:{port}/healthz"))
        wait_for(lambda: responds(f"http://127.0.0.1:{sandbox}/_control/health"))
        smoke = manage("smoke_test", **paths)
        assert smoke.returncode == 0, smoke.stdout + smoke.stderr
        second = start(paths, str(free_port()))
        assert second.returncode == 1
        assert second.stderr == (
            f"Oracle is already running from this directory, at http://127.0.0.1:{port}: "
            "stop it first.\n"
        )


def test_without_a_running_site_a_command_keeps_its_defaults(paths, tmp_path):
    (tmp_path / "run.json").write_text(
        '{"SITE_URL": "http://127.0.0.1:1"}'
    )  # left by a site that has ended
    shown = manage("shell", "--no-imports", "-c", SITE_URL, **paths)
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


def test_a_hangup_ends_the_whole_run(paths):
    """Like a closed terminal, which sends SIGHUP to honcho, too."""
    with running(command(free_port()), **paths) as program:
        wait_for_all(program)
        # Selected before the first signal, after which processes end and lose their command line.
        targets = [
            one
            for one in program.alive()
            if "honcho" in one.cmdline() or one.pid == program.process.pid
        ]
        for one in targets:
            one.send_signal(signal.SIGHUP)
        program.process.wait(timeout=30)
        wait_for(lambda: program.alive() == [])


def test_a_killed_process_ends_the_whole_run(paths):
    with running(command(free_port()), **paths) as program:
        wait_for_all(program)
        wait_for(lambda: main_processes(program.alive(), "worker"))
        (worker, *_) = main_processes(program.alive(), "worker")
        worker.kill()
        program.process.wait(timeout=30)
        assert program.process.returncode != 0
        wait_for(lambda: program.alive() == [])


def wait_for_all(program: Program) -> None:
    """honcho ends its processes only after it has started all of them."""
    for name in PROCESSES:
        program.wait_for_output(f"{name}.1 started")


def main_processes(processes: list[psutil.Process], command: str) -> list[psutil.Process]:
    """Oldest first."""
    found = [one for one in processes if one.is_running() and command in one.cmdline()[2:3]]
    return sorted(found, key=lambda one: (one.create_time(), one.pid))


def test_ctrl_c_on_a_terminal_is_quiet_and_the_password_is_shown(paths, tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, command(free_port()), child_env(**paths))
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
def test_an_invalid_port_is_rejected(paths, port):
    run = start(paths, port)
    assert run.returncode != 0
    assert run.stderr.startswith(f"A port is a whole number from 1 to 65535, not {port!r}")


def test_the_sandbox_needs_another_port_than_the_site(paths):
    port = str(free_port())
    run = start(paths, port, "--sandbox-port", port)
    assert (run.returncode, len(run.stderr.splitlines())) == (1, 1)
    assert "cannot share port" in run.stderr


def test_a_port_in_use_ends_with_one_sentence(paths):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = start(paths, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "choose other ports with `make run PORT=8001 SANDBOX_PORT=8011`" in run.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"DEBUG": "perhaps"}, "Oracle does not start: DEBUG must be 1 or 0"),
        ({"DATABASE_URL": "sqlite:////no/such/folder/x"}, "The database could not be set up:"),
        ({"ORACLE_LOG_PATH": "/proc/no/log"}, "The directory of ORACLE_LOG_PATH cannot be used:"),
    ],
)
def test_a_start_fails_with_one_sentence(paths, environment, sentence):
    run = start({**paths, **environment}, str(free_port()))
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
