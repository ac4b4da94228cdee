"""`make run`: the whole site on this machine, without keys or services.

Listens on loopback only. Set-up that is done already costs nothing.
"""

import argparse
import os
import socket
import sys

HOST = "127.0.0.1"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make run", description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    refuse_taken_port(port)
    os.environ.setdefault("SITE_URL", f"http://{HOST}:{port}")
    migrate = os.spawnv(
        os.P_WAIT, sys.executable, [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    )
    if migrate:
        sys.exit("The database could not be set up; the lines above say why.")
    sys.stdout.write(f"Oracle is at http://{HOST}:{port}/ - stop it with Ctrl-C.\n")
    sys.stdout.flush()
    os.execv(
        sys.executable,
        [sys.executable, "manage.py", "runserver", "--noreload", "--verbosity=0", f"{HOST}:{port}"],
    )


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
