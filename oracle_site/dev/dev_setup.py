"""`make run`: sets up database and admin account, then runs the Procfile with honcho.

Listens on loopback only. Every step of the set-up is idempotent.
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
    parser.add_argument("--sandbox-port", help="default: that of SANDBOX_URL, or --port plus 10")
    options = parser.parse_args()
    port = port_number(options.port)
    sandbox_port = port_number(options.sandbox_port or default_sandbox_port(port))
    site, sandbox = f"http://{HOST}:{port}", f"http://{HOST}:{sandbox_port}"
    os.environ.update(ORACLE_BIND=HOST, ORACLE_PORT=str(port), SANDBOX_URL=sandbox)
    os.environ["ORACLE_SANDBOX_PORT"] = str(sandbox_port)
    os.environ.setdefault("SITE_URL", site)
    os.environ.setdefault("NO_PROXY", f"{HOST},localhost")
    try:
        claim(run_file(os.environ), {"SITE_URL": site, "SANDBOX_URL": sandbox})
    except AlreadyRunning as other:
        sys.exit(f"Oracle is already running from this directory, at {other}: stop it first.")
    except OSError as error:
        sys.exit(f"The directory of ORACLE_LOG_PATH cannot be used: {error}")
    if port == sandbox_port:
        sys.exit(f"The site and its sandbox cannot share port {port}: choose another SANDBOX_PORT.")
    for number in (port, sandbox_port):
        require_free_port(number)
    login = set_up(show_password=sys.stdout.isatty())  # never into a log file
    sys.stdout.write(welcome(site, sandbox if settings.SANDBOX else "", login))
    sys.stdout.flush()
    sys.exit(run_honcho([*PROCESSES, "sandbox"] if settings.SANDBOX else [*PROCESSES]))


def set_up(*, show_password: bool) -> str:
    """Migrate the database and create the admin account; returns how to log in."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    try:
        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
        if not settings.DEBUG:
            return ""
        return ensure_admin(password_file(), show_password=show_password)
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    except Error as error:
        sys.exit(f"The database could not be set up: {error}")


def run_honcho(processes: list[str]) -> int:
    """Run honcho until it ends; its exit code.

    SIGHUP, as from a closed terminal, is turned into SIGTERM: honcho itself would die of SIGHUP
    and leave its child processes running.
    """
    programs = str(Path(sys.executable).parent)
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.environ["PYTHONUNBUFFERED"] = "1"
    # -e: honcho must not read a .env file.
    command = [sys.executable, "-m", "honcho", "-e", os.devnull, "start", *processes]
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # honcho inherits this
    honcho = subprocess.Popen(command)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: honcho.send_signal(received))
    if hangup != signal.SIG_IGN:  # under nohup SIGHUP stays ignored
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


def default_sandbox_port(port: int) -> str:
    try:
        configured = urlsplit(os.environ.get("SANDBOX_URL", "")).port
    except ValueError:
        configured = None
    return str(configured or port + 10)


def require_free_port(port: int) -> None:
    with socket.socket() as probe:
        # Like the server: a port in TIME_WAIT can be bound.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            sys.exit(
                f"Port {port} cannot be used ({error}): stop the program that uses it, "
                "or choose other ports with `make run PORT=8001 SANDBOX_PORT=8011`."
            )


def password_file() -> Path:
    """Beside the SQLite file, which is in var/ by default."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return Path(database["NAME"]).parent / "admin-password"
    return settings.BASE_DIR / "var" / "admin-password"


def ensure_admin(file: Path, *, show_password: bool) -> str:
    """Create a superuser if there is none; returns how to log in."""
    users = get_user_model().objects
    admin = users.filter(username=USERNAME).first()
    if admin is None and not users.filter(is_superuser=True).exists():
        password = write_password(file, secrets.token_urlsafe(12))
        users.create_superuser(username=USERNAME, password=password)
    elif admin is None or not (admin.is_superuser and admin.is_active):
        return "as the superuser that you created"
    else:
        password = file.read_text().strip() if file.exists() else ""
        if not admin.check_password(password):
            return f"as {USERNAME}; its password is not on file, set a new one: `{NEW_PASSWORD}`"
    where = os.path.relpath(file) if file.is_relative_to(Path.cwd()) else file
    if show_password:
        return f"as {USERNAME}, password {password} (stored in {where})"
    return f"as {USERNAME}, the password is in {where}"


def write_password(file: Path, password: str) -> str:
    """Called before the account is created: a crash must not leave one with a lost password."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # of an older database, perhaps with other permissions
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, f"{password}\n".encode())
    os.close(descriptor)
    return password


if __name__ == "__main__":
    main()
