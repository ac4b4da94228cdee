"""`make run`, as somebody who types it meets it."""

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

from tests.child_env import child_env
from tests.live_site import free_port
from tests.oracle_site.supervise.house import ROOT, running, wait_for

CTRL_C = b"\x03"


def command(port: int | str) -> list[str]:
    ports = ["--port", str(port), "--sandbox-port", str(free_port())]
    return [sys.executable, "-m", "oracle_site.run", *ports]


@pytest.fixture
def database(tmp_path: Path) -> dict[str, str]:
    return {"DATABASE_URL": f"sqlite:///{tmp_path}/run.sqlite3"}


def fetch(url: str, browser: urllib.request.OpenerDirector | None = None, **form: str) -> str:
    browser = browser or urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = urllib.parse.urlencode(form).encode() if form else None
    with browser.open(url, data, timeout=30) as answer:
        return answer.read().decode()


def test_the_site_answers_on_a_fresh_database(database):
    port = free_port()
    with running(command(port), **database) as house:
        assert f"http://127.0.0.1:{port}/" in house.read_until("Site")[-1]
        assert "CA$5.00" in fetch(f"http://127.0.0.1:{port}/")
        code, said, errors = house.end(signal.SIGTERM)
        assert code == 0
        assert said.endswith("Stopping ...\nStopped.\n")
        assert errors == ""  # least of all addresses, which hold session ids
        assert house.alive() == []


def test_the_admin_opens_with_the_kept_password(database, tmp_path):
    port = free_port()
    with running(command(port), **database) as house:
        told = house.read_until("Log in")[-1]
        assert f"as admin, the password is in {tmp_path}/admin-password" in told
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


def test_a_killed_web_server_comes_back(database):
    port = free_port()
    with running(command(port), **database) as house:
        house.read_until("Stop")
        (server,) = [one for one in house.alive() if "runserver" in one.cmdline()[2:3]]
        server.kill()
        assert house.read_until("again") == ["web was ended by SIGKILL; starting again in 0.5 s."]
        wait_for(lambda: answers(port))


def answers(port: int) -> bool:
    try:
        return "CA$5.00" in fetch(f"http://127.0.0.1:{port}/")
    except OSError:
        return False


def test_killing_the_run_leaves_nothing(database):
    with running(command(free_port()), **database) as house:
        house.read_until("Stop")
        house.process.kill()
        wait_for(lambda: house.alive() == [])


def test_a_run_ends_with_what_started_it(database):
    script = f"import subprocess; subprocess.run({command(free_port())!r})"
    with running([sys.executable, "-c", script], **database) as house:
        house.read_until("Stop")
        house.process.kill()
        wait_for(lambda: house.alive() == [])


def test_ctrl_c_on_a_terminal_is_quiet_and_the_password_is_shown(database, tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, command(free_port()), child_env(**database))
    shown = b""
    try:
        while b"Ctrl-C" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, CTRL_C)
        while b"Stopped." not in shown:
            shown += os.read(terminal, 1024)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        os.close(terminal)
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)
    assert (tmp_path / "admin-password").read_bytes().strip() in shown
    assert b"Traceback" not in shown


@pytest.mark.parametrize("port", ["0x50", "99999", "0", "abc"])
def test_a_port_that_is_none_is_refused(database, port):
    run = start(database, port)
    assert run.returncode != 0
    assert run.stderr.startswith(f"A port is a whole number from 1 to 65535, not {port!r}")


def test_a_taken_port_ends_with_one_sentence(database):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = start(database, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "choose another with `make run PORT=8001`" in run.stderr


def test_what_is_in_the_way_of_starting_is_one_sentence():
    run = start({"DATABASE_URL": "sqlite:////no/such/folder/x"}, str(free_port()))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith("The database could not be set up:")


def start(environment: dict[str, str], port: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(port),
        cwd=ROOT,
        env=child_env(**environment),
        capture_output=True,
        text=True,
        check=False,
    )
