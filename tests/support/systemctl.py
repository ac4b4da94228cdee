"""A replacement for `systemctl` without systemd: restarts the units of a drill Host."""

import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drill.sites.units import Host, StartFailed

PROGRAM = """#!{python}
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({path!r})
    connection.sendall((" ".join(sys.argv[1:]) + "\\n").encode())
    sys.exit(int(connection.makefile().read()))
"""


@contextmanager
def systemctl(
    host: Host, folder: Path, enabled: tuple[str, ...]
) -> Iterator[tuple[Path, list[str]]]:
    """The program's path, and a list of the units that it restarts, in order."""
    restarted: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            verb, *_, unit = self.rfile.readline().decode().split()
            name = unit.removesuffix(".service")
            code = 0
            if verb == "is-enabled":
                code = int(name not in enabled)
            elif verb == "is-active":
                code = int(not host.processes(name))
            elif verb == "restart":
                restarted.append(name)
                try:
                    host.restart(name)
                except StartFailed:
                    code = 1
            self.wfile.write(str(code).encode())

    path = host.run / "systemctl.sock"
    program = folder / "systemctl"
    program.write_text(PROGRAM.format(python=sys.executable, path=str(path)))
    program.chmod(0o755)
    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield program, restarted
        finally:
            server.shutdown()
            thread.join()
