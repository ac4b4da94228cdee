"""`make run`: the whole site on this machine, without keys or services.

Listens on loopback only. Set-up that is done already costs nothing. What runs
is in `programs`, what a person is told about it in `welcome`.
"""

import argparse
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
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--sandbox-port", type=int, help="default: ten above --port")
    options = parser.parse_args()
    port = options.port
    sandbox_port = port + 10 if options.sandbox_port is None else options.sandbox_port
    os.environ.setdefault("SITE_URL", f"http://{HOST}:{port}")
    listed = programs(port, sandbox_port)
    for program in listed:
        if isinstance(program.ready, int):
            refuse_taken_port(program.ready)
    code, login = run_to_its_end(prepare())
    if code:
        sys.exit(code)
    # Whoever kills make, or the script that started us, means the site; except under nohup.
    parent = None if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else os.getppid()
    sys.exit(supervise(listed, welcome=welcome(port, login), parent=parent))


def programs(port: int, sandbox_port: int) -> list[Program]:  # noqa: ARG001 - the sandbox is next
    """All that runs, in the order of starting. A `ready` that is a port must be free."""
    manage = [sys.executable, "manage.py"]
    return [
        Program(
            "web",
            [*manage, "runserver", "--noreload", "--verbosity=0", f"{HOST}:{port}"],
            ready=port,
            quiet=True,
        ),
    ]


def welcome(port: int, login: str) -> str:
    lines = {
        "Site": f"http://{HOST}:{port}/",
        "Admin": f"http://{HOST}:{port}/admin/",
        "Log in": login,
        "Stop": "Ctrl-C",
    }
    return "\n".join(["Oracle is running.", *(f"  {k:<8}{v}" for k, v in lines.items() if v)])


def prepare() -> list[str]:
    show = ["--show"] if sys.stdout.isatty() else []  # a password is not for log files
    return [sys.executable, "-m", "oracle_site.prepare", *show]


def refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            sys.exit(
                f"Port {port} cannot be used ({error}): stop what uses it, "
                "or choose another with `make run PORT=8001`."
            )


if __name__ == "__main__":
    main()
