"""`make serve`: the site for customers on this host, behind a proxy that speaks TLS.

Web processes and the workers of both queues, supervised. `--only web` or `--only
work` runs one half, for several hosts on one PostgreSQL. SIGHUP, or `--restart`
from beside, replaces every process by one with today's code and settings,
without a failed request; SIGTERM finishes what is under way and stops.
"""

import argparse
import ipaddress
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from oracle_site.env_file import EnvFileError, read_env_file
from oracle_site.supervise import Program, Refused, supervise
from oracle_site.supervise.control import LONGEST, NobodyThere, ask, somebody_is_there
from oracle_site.supervise.launch import run_to_its_end

ROOT = Path(__file__).resolve().parent.parent
CONTROL = Path("var/serve.sock")
BACKLOG = 1024
# Seconds from SIGTERM to SIGKILL: what is under way may take as long as it may.
WEB_GRACE = 40.0  # a page takes 30 s at most
SLACK = 10.0  # beyond a job's time-out
# One heap for all threads: Python lets one of them run at a time, and each heap of its own
# would keep what it once needed.
WEB_VARIABLES = {"MALLOC_ARENA_MAX": "1"}


def main() -> None:
    # Before the supervisor takes over there is nothing to tidy up: no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = arguments()
    if len(os.fsencode(options.control)) > LONGEST:
        sys.exit(f"--control must be a path of at most {LONGEST} bytes.")
    if options.restart:
        sys.exit(restart(options.control))
    if somebody_is_there(options.control):
        sys.exit(
            f"Oracle is running already, and answers at {options.control}: `make restart` replaces "
            "its processes. A second group on one host needs a --control of its own."
        )
    sys.exit(serve(Wish(options.only, options.env_file, options.directory), options.control))


class Wish(NamedTuple):
    """What somebody wants to run; what that means is found out anew at every restart."""

    only: str | None
    env_file: Path | None
    directory: Path | None  # of the code; a link may lead to another one next time

    def folder(self) -> Path:
        return self.directory.resolve() if self.directory else ROOT

    def python(self) -> str:
        own = self.folder() / ".venv/bin/python"
        return str(own) if self.directory and own.exists() else sys.executable


class Look(NamedTuple):
    """What the look before a start or a restart has found."""

    python: str
    folder: Path
    variables: Mapping[str, str]
    found: Mapping[str, Any]

    def program(self, name: str, arguments: Sequence[str], **more: Any) -> Program:
        return Program(name, [self.python, *arguments], folder=self.folder, **more)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make serve",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Everything else is set by environment variables: see the README's table.",
    )
    parser.add_argument("--only", choices=["web", "work"], help="one half of it (make: WHAT=web)")
    parser.add_argument(
        "--env-file",
        type=Path,
        metavar="FILE",
        help="lines of NAME=value, read anew at every restart; they win over the environment",
    )
    parser.add_argument(
        "--directory",
        type=Path,
        metavar="PATH",
        help="the folder of the code, with its .venv; where it is a link, every restart follows it "
        "anew (default: the folder of this file)",
    )
    parser.add_argument(
        "--control",
        type=Path,
        default=CONTROL,
        metavar="PATH",
        help=f"the socket at which `--restart` finds it (default: {CONTROL})",
    )
    parser.add_argument(
        "--restart", action="store_true", help="have the one that runs replace its processes"
    )
    return parser.parse_args()


def restart(control: Path) -> int:
    try:
        return ask(control, "restart", print)
    except NobodyThere:
        sys.exit(f"Nothing runs that answers at {control}: start it with `make serve`.")


def serve(wish: Wish, control: Path) -> int:
    try:
        first = look(wish)
    except Refused as refusal:
        sys.exit(f"Oracle does not start: {refusal}")
    # Whoever kills make, or the script that started us, means the site; except under nohup.
    parent = None if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else os.getppid()
    address = first.found["bind"], first.found["port"]
    listener = None if wish.only == "work" else listen(*address)

    def renew() -> Sequence[Program]:
        next_one = look(wish)
        if listener and (next_one.found["bind"], next_one.found["port"]) != address:
            raise Refused("another ORACLE_BIND or ORACLE_PORT needs a stop and a start.")
        return programs(wish.only, next_one, listener)

    control.parent.mkdir(parents=True, exist_ok=True)
    return supervise(
        programs(wish.only, first, listener),
        welcome=welcome(wish.only, first.found),
        parent=parent,
        renew=renew,
        control=control,
        # Refused at once, so that a load balancer turns to another host.
        stopping=listener.close if listener else lambda: None,
    )


def look(wish: Wish) -> Look:
    """Whether and how to serve, with today's code and settings; raises Refused."""
    try:
        variables = read_env_file(wish.env_file) if wish.env_file else {}
    except EnvFileError as error:
        raise Refused(str(error)) from None
    python, folder = wish.python(), wish.folder()
    half = ["--only", wish.only] if wish.only else []
    preflight = [python, "-m", "oracle_site.preflight", *half]
    try:
        code, told = run_to_its_end(preflight, variables, folder)
    except OSError as error:
        raise Refused(f"{folder} cannot be used: {error.strerror}.") from None
    if code:
        raise Refused("the look before it failed; the lines above say why.")
    found = json.loads(told)
    if "refused" in found:
        raise Refused(found["refused"])
    return Look(python, folder, variables, found)


def programs(only: str | None, how: Look, listener: socket.socket | None) -> list[Program]:
    """All that runs on this host, in the order of starting."""
    listed = []
    if listener:
        numbers = range(1, how.found["processes"] + 1)
        listed += [web(number, how, listener.fileno()) for number in numbers]
    if only == "web":
        listed.append(how.program("log", ["manage.py", "keep_log"], env=how.variables, quiet=True))
    else:
        listed += [worker(name, how, timeout) for name, timeout in how.found["queues"].items()]
    return listed


def web_arguments(listening: int, threads: int) -> list[str]:
    """Of Python, for one web process: benchmarks start the same."""
    return ["-m", "oracle_site.web", "--listen", str(listening), "--threads", str(threads)]


def web(number: int, how: Look, listening: int) -> Program:
    return how.program(
        f"web {number}",
        web_arguments(listening, how.found["threads"]),
        env={**how.variables, **WEB_VARIABLES},
        announces=True,
        keeps=[listening],
        grace=WEB_GRACE,
    )


def worker(queue: str, how: Look, timeout: float) -> Program:
    env = {**how.variables, "Q_CLUSTER_NAME": queue}
    return how.program(queue, ["manage.py", "work"], env=env, quiet=True, grace=timeout + SLACK)


def listen(bind: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ipaddress.ip_address(bind).version == 6 else socket.AF_INET
    try:
        return socket.create_server((bind, port), family=family, backlog=BACKLOG)
    except OSError as error:
        sys.exit(
            f"Port {port} of {bind} cannot be used ({error.strerror}): stop what uses it, or set "
            "ORACLE_PORT to another."
        )


def welcome(only: str | None, found: Mapping[str, Any]) -> str:
    lines = {}
    if only != "work":
        host = f"[{found['bind']}]" if ":" in found["bind"] else found["bind"]
        many = found["processes"]
        each = f"{many} {'process' if many == 1 else 'processes'} of {found['threads']} threads"
        lines["Web"] = f"http://{host}:{found['port']}/, {each}"
    if only != "web":
        lines["Queues"] = " and ".join(found["queues"])
    lines["Restart"] = "make restart, or SIGHUP"
    lines["Stop"] = "Ctrl-C, or SIGTERM"
    return "\n".join(["Oracle is serving.", *(f"  {k:<8}{v}" for k, v in lines.items())])


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
