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
from typing import Any

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
    sys.exit(serve(options.only, options.env_file, options.control))


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


def serve(only: str | None, env_file: Path | None, control: Path) -> int:
    try:
        variables, found = look(only, env_file)
    except Refused as refusal:
        sys.exit(f"Oracle does not start: {refusal}")
    # Whoever kills make, or the script that started us, means the site; except under nohup.
    parent = None if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else os.getppid()
    listener = None if only == "work" else listen(found["bind"], found["port"])

    def renew() -> Sequence[Program]:
        variables, renewed = look(only, env_file)
        if listener and (renewed["bind"], renewed["port"]) != (found["bind"], found["port"]):
            raise Refused("another ORACLE_BIND or ORACLE_PORT needs a stop and a start.")
        return programs(only, renewed, variables, listener)

    control.parent.mkdir(parents=True, exist_ok=True)
    return supervise(
        programs(only, found, variables, listener),
        welcome=welcome(only, found),
        parent=parent,
        renew=renew,
        control=control,
        # Refused at once, so that a load balancer turns to another host.
        stopping=listener.close if listener else lambda: None,
    )


def look(only: str | None, env_file: Path | None) -> tuple[Mapping[str, str], dict[str, Any]]:
    """The variables on top of ours, and how to serve with them; raises Refused."""
    try:
        variables = read_env_file(env_file) if env_file else {}
    except EnvFileError as error:
        raise Refused(str(error)) from None
    half = ["--only", only] if only else []
    code, told = run_to_its_end([sys.executable, "-m", "oracle_site.preflight", *half], variables)
    if code:
        raise Refused("the look before it failed; the lines above say why.")
    found = json.loads(told)
    if "refused" in found:
        raise Refused(found["refused"])
    return variables, found


def programs(
    only: str | None,
    found: Mapping[str, Any],
    variables: Mapping[str, str],
    listener: socket.socket | None,
) -> list[Program]:
    """All that runs on this host, in the order of starting."""
    listed = []
    if listener:
        listed += [
            web(number + 1, listener.fileno(), found["threads"], variables)
            for number in range(found["processes"])
        ]
    if only == "web":
        listed.append(manage("log", ["keep_log"], variables))
    else:
        listed += [
            manage(name, ["work"], {**variables, "Q_CLUSTER_NAME": name}, grace=timeout + SLACK)
            for name, timeout in found["queues"].items()
        ]
    return listed


def web(number: int, listening: int, threads: int, variables: Mapping[str, str]) -> Program:
    listen = ["--listen", str(listening), "--threads", str(threads)]
    return Program(
        f"web {number}",
        [sys.executable, "-m", "oracle_site.web", *listen],
        # One heap for all threads: Python lets one of them run at a time, and each heap of
        # its own would keep what it once needed.
        env={**variables, "MALLOC_ARENA_MAX": "1"},
        announces=True,
        keeps=[listening],
        grace=WEB_GRACE,
    )


def manage(
    name: str, command: Sequence[str], variables: Mapping[str, str], *, grace: float = SLACK
) -> Program:
    argv = [sys.executable, "manage.py", *command]
    return Program(name, argv, env=variables, quiet=True, grace=grace)


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
        each = f"{found['processes']} processes, {found['threads']} threads each"
        lines["Web"] = f"http://{host}:{found['port']}/, {each}"
    if only != "web":
        lines["Queues"] = " and ".join(found["queues"])
    lines["Restart"] = "make restart, or SIGHUP"
    lines["Stop"] = "Ctrl-C, or SIGTERM"
    return "\n".join(["Oracle is serving.", *(f"  {k:<8}{v}" for k, v in lines.items())])


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
