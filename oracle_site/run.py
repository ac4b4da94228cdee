"""`make run`: the whole site on this machine, without keys or services.

Listens on loopback only. Set-up that is done already costs nothing. What runs
is in `programs`, what a person is told about it in `welcome`.
"""

import argparse
import json
import os
import signal
import socket
import sys

from oracle_site.supervise import Program, supervise
from oracle_site.supervise.launch import run_to_its_end

HOST = "127.0.0.1"


def main() -> None:
    # Before the supervisor takes over there is nothing to tidy up: no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="make run", description=__doc__)
    parser.add_argument("--port", default="8000")
    parser.add_argument("--sandbox-port", help="default: ten above --port")
    options = parser.parse_args()
    port = port_number(options.port)
    sandbox_port = port_number(options.sandbox_port or str(port + 10))
    for needed in (port, sandbox_port):
        refuse_taken_port(needed)
    os.environ.setdefault("SITE_URL", f"http://{HOST}:{port}")
    os.environ.setdefault("SANDBOX_URL", f"http://{HOST}:{sandbox_port}")
    os.environ.setdefault("NO_PROXY", f"{HOST},localhost")
    code, told = run_to_its_end(prepare())
    if code:
        sys.exit(code)
    found = json.loads(told)
    listed = programs(port, sandbox_port if found["sandbox"] else None)
    greeting = welcome(port, sandbox_port if found["sandbox"] else None, found["login"])
    # Whoever kills make, or the script that started us, means the site; except under nohup.
    parent = None if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else os.getppid()
    sys.exit(supervise(listed, welcome=greeting, parent=parent))


def programs(port: int, sandbox_port: int | None) -> list[Program]:
    """All that runs, in the order of starting; no sandbox where the site is live."""
    manage = [sys.executable, "manage.py"]
    listed = [
        Program(
            "web",
            [*manage, "runserver", "--noreload", "--verbosity=0", f"{HOST}:{port}"],
            ready=port,
            quiet=True,
        ),
        cluster("generate"),
        cluster("post"),
    ]
    if sandbox_port is not None:
        webhook = f"http://{HOST}:{port}/api/webhook"
        sandbox = [sys.executable, "-m", "sandbox", "--port", str(sandbox_port)]
        argv = [*sandbox, "--webhook-url", webhook]
        listed.insert(0, Program("sandbox", argv, ready=sandbox_port, quiet=True))
    return listed


def cluster(name: str) -> Program:
    """The workers of one queue."""
    argv = [sys.executable, "manage.py", "work"]
    return Program(name, argv, env={"Q_CLUSTER_NAME": name}, quiet=True)


def welcome(port: int, sandbox_port: int | None, login: str) -> str:
    lines = {"Site": f"http://{HOST}:{port}/", "Admin": f"http://{HOST}:{port}/admin/"}
    lines["Log in"] = login
    if sandbox_port is not None:
        lines["Mailbox"] = f"http://{HOST}:{sandbox_port}/mailbox (sandbox: no real money)"
    lines["Stop"] = "Ctrl-C"
    return "\n".join(["Oracle is running.", *(f"  {k:<8}{v}" for k, v in lines.items() if v)])


def prepare() -> list[str]:
    show = ["--show"] if sys.stdout.isatty() else []  # a password is not for log files
    return [sys.executable, "-m", "oracle_site.prepare", *show]


def port_number(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    sys.exit(f"A port is a whole number from 1 to 65535, not {text!r}: `make run PORT=8001`.")


def refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            sys.exit(
                f"Port {port} cannot be used ({error}): stop what uses it, "
                "or choose another with `make run PORT=8001`."
            )


if __name__ == "__main__":
    main()
