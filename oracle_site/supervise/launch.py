"""Starts a program on a tether (see oracle_site/tether.py)."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TETHER = Path(__file__).parents[1] / "tether.py"
SILENT = 1  # the code of a program whose tether could not say how it ended


def launch(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdout: int,
    stderr: int | None,
    keeps: Sequence[int] = (),
    folder: Path | None = None,
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The tether, which leads the program's process group, and our end of its line.

    The program lives no longer than our end. Python makes descriptors close-on-exec,
    and only the other end is passed on, beside what the program `keeps`: nobody else
    can keep the line open.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        tether = subprocess.Popen(
            # Isolated (-I) and without site-packages (-S): nothing of ours can break it.
            [sys.executable, "-IS", TETHER, str(theirs.fileno()), "--", *argv],
            env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            pass_fds=[theirs.fileno(), *keeps],
            cwd=folder,
        )
    return tether, ours


def exit_code(line: socket.socket) -> int | None:
    """What the tether reported when the program ended; None if it was killed before."""
    line.setblocking(False)
    try:
        return int(line.recv(16))
    except (OSError, ValueError):
        return None


def run_to_its_end(
    argv: Sequence[str], env: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[int, str]:
    """Exit code and stdout of a program that does not outlive us."""
    tether, line = launch(argv, env=env or {}, stdout=subprocess.PIPE, stderr=None, folder=folder)
    with line:
        output, _ = tether.communicate()
        code = exit_code(line)
    return SILENT if code is None else code, output.decode()
