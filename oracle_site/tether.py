"""Runs one program so that nothing of it outlives whoever asked for it.

    python -m oracle_site.tether FD -- program arguments ...

FD is one end of a socket pair; the other end belongs to the supervisor alone.
Other descriptors that the tether was given are the program's. The tether leads
a process group that the program and all that it forks share:

- The other end closes, however the supervisor died: the program gets SIGTERM,
  and after GRACE seconds the group is killed.
- The program ends, however: its exit code is written to FD, and what it left in
  the group is killed, at once.
- SIGTERM, SIGINT and SIGHUP are passed on to the program, and only to it: it
  knows best in which order its own children stop.

The last act is always SIGKILL to the own group, the tether included: one step
that neither stopped processes nor ones that ignore SIGTERM survive, and without
a moment at which the group's number could belong to somebody else. If the
tether itself is killed, the supervisor sees that and kills the group.

Standard library only, and no import of ours: it runs isolated and starts quickly.
"""

import fcntl
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress

GRACE = 5.0  # enough also where many others want the processor
NOT_FOUND = 127  # as a shell reports it
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: list[str]) -> None:
    if len(arguments) < 3 or not arguments[0].isdecimal() or arguments[1] != "--":
        sys.exit("usage: python -m oracle_site.tether FD -- program arguments ...")
    line = socket.socket(fileno=int(arguments[0]))
    line.set_inheritable(False)  # the program gets all the others
    if os.getpgrp() != os.getpid():
        os.setsid()  # started by hand: the group that is killed must be our own
    _wake_when_the_line_closes(line)
    signals = _signals_as_bytes()
    try:
        program = subprocess.Popen(arguments[2:], close_fds=False)
    except OSError as error:
        sys.stderr.write(f"{arguments[2]} cannot be run: {error.strerror}\n")
        code = NOT_FOUND
    else:
        code = _mind(program, line, signals)
    with suppress(OSError):  # nobody listens any more
        line.send(str(code).encode())
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _mind(program: subprocess.Popen[bytes], line: socket.socket, signals: int) -> int:
    """Wait until the program is over or let go of; its code as Popen tells it."""
    while program.poll() is None:
        readable, _, _ = select.select([line.fileno(), signals], [], [])
        if line.fileno() in readable:
            program.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.wait(GRACE)
            break
        for number in os.read(signals, 64):
            if number in PASSED_ON:
                program.send_signal(number)
    return program.returncode or 0


def _signals_as_bytes() -> int:
    """A descriptor from which each signal reads as one byte.

    Handlers, not SIG_IGN: those would be inherited by the program.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (*PASSED_ON, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return reading


def _wake_when_the_line_closes(line: socket.socket) -> None:
    """Linux continues the group at the end of the line, should it be stopped by then."""
    if sys.platform == "linux":
        fcntl.fcntl(line, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(line, fcntl.F_SETSIG, signal.SIGCONT)
        fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    main(sys.argv[1:])
