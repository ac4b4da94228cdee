"""`make run`: sets up database and admin account, then runs the Procfile by honcho.

Listens on loopback only. Set-up that is done already costs nothing.
"""

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import Error

from oracle_site.dev.running_site import AlreadyRunning, claim, run_file

HOST: Final = "127.0.0.1"
USERNAME: Final = "admin"
NEW_PASSWORD: Final = f"{os.path.relpath(sys.executable)} manage.py changepassword {USERNAME}"
PROCESSES: Final = ("web", "generate", "worker")  # of the Procfile, beside the sandbox


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during set-up: no traceback
    parser = argparse.ArgumentParser(prog="make run", description=__doc__)
    parser.add_argument("--port", default="8000")
    parser.add_argument("--sandbox-port", help="default: that of SANDBOX_URL, or ten above --port")
    options = parser.parse_args()
    port = port_number(options.port)
    sandbox_port = port_number(options.sandbox_port or sandbox_port_beside(port))
    site, sandbox = f"http://{HOST}:{port}", f"http://{HOST}:{sandbox_port}"
    os.environ.update(ORACLE_BIND=HOST, ORACLE_PORT=str(port), SANDBOX_URL=sandbox)
    os.environ["ORACLE_SANDBOX_PORT"] = str(sandbox_port)
    os.environ.setdefault("SITE_URL", site)
    os.environ.setdefault("NO_PROXY", f"{HOST},localhost")
    try:
        claim(run_file(os.environ), {"SITE_URL": site, "SANDBOX_URL": sandbox})
    except AlreadyRunning as other:
        sys.exit(f"Oracle is running from this folder already, at {other}: stop that one first.")
    except OSError as error:
        sys.exit(f"The folder of ORACLE_LOG_PATH cannot be used: {error}")
    if port == sandbox_port:
        sys.exit(f"The site and its sandbox cannot share port {port}: choose another SANDBOX_PORT.")
    for needed in (port, sandbox_port):
        refuse_taken_port(needed)
    login = set_up(show=sys.stdout.isatty())  # a password is not for log files
    sys.stdout.write(welcome(site, sandbox if settings.SANDBOX else "", login))
    sys.stdout.flush()
    sys.exit(run_honcho([*PROCESSES, "sandbox"] if settings.SANDBOX else [*PROCESSES]))


def set_up(*, show: bool) -> str:
    """The database, and a way into the admin, which is returned as a sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    try:
        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
        return make_login(password_file(), show=show) if settings.DEBUG else ""
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    except Error as error:
        sys.exit(f"The database could not be set up: {error}")


def run_honcho(processes: list[str]) -> int:
    """Until it ends; its exit code. A hangup ends it too: a terminal that is closed, say.

    honcho itself would die of one and leave its processes behind.
    """
    programs = str(Path(sys.executable).parent)
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.environ["PYTHONUNBUFFERED"] = "1"
    # "-e": no file of settings is read beside the environment.
    command = [sys.executable, "-m", "honcho", "-e", os.devnull, "start", *processes]
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which honcho inherits
    honcho = subprocess.Popen(command)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: honcho.send_signal(received))
    if hangup != signal.SIG_IGN:  # unlike under nohup
        signal.signal(signal.SIGHUP, lambda *_: honcho.terminate())
    return honcho.wait()


def welcome(site: str, sandbox: str, login: str) -> str:
    lines = {"Site": f"{site}/", "Admin": f"{site}/admin/", "Log in": login}
    if sandbox:
        lines["Mailbox"] = f"{sandbox}/mailbox (sandbox: no real money)"
    lines["Stop"] = "Ctrl-C"
    rows = [f"  {name:<8}{value}" for name, value in lines.items() if value]
    return "\n".join(["Oracle is starting.", *rows, ""])


def port_number(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    sys.exit(f"A port is a whole number from 1 to 65535, not {text!r}: `make run PORT=8001`.")


def sandbox_port_beside(port: int) -> str:
    try:
        named = urlsplit(os.environ.get("SANDBOX_URL", "")).port
    except ValueError:
        named = None
    return str(named or port + 10)


def refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            sys.exit(
                f"Port {port} cannot be used ({error}): stop what uses it, "
                "or choose others with `make run PORT=8001 SANDBOX_PORT=8011`."
            )


def password_file() -> Path:
    """Beside the SQLite file that it belongs to, which is var/ by default."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return Path(database["NAME"]).parent / "admin-password"
    return settings.BASE_DIR / "var" / "admin-password"


def make_login(kept: Path, *, show: bool) -> str:
    """How to log in to the admin, after making sure that it is possible."""
    users = get_user_model().objects
    admin = users.filter(username=USERNAME).first()
    if admin is None and not users.filter(is_superuser=True).exists():
        password = keep_secret(kept, secrets.token_urlsafe(12))
        users.create_superuser(username=USERNAME, password=password)
    elif admin is None or not (admin.is_superuser and admin.is_active):
        return "as the superuser that you made"
    else:
        password = kept.read_text().strip() if kept.exists() else ""
        if not admin.check_password(password):
            return f"as {USERNAME}; its password is not on file, set another with `{NEW_PASSWORD}`"
    where = os.path.relpath(kept) if kept.is_relative_to(Path.cwd()) else kept
    if show:
        return f"as {USERNAME}, password {password} (kept in {where})"
    return f"as {USERNAME}, the password is in {where}"


def keep_secret(kept: Path, password: str) -> str:
    """Written before it is used: an account whose password is lost is the worse failure."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.unlink(missing_ok=True)  # an older database's, perhaps with other permissions
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, f"{password}\n".encode())
    os.close(descriptor)
    return password


if __name__ == "__main__":
    main()
