"""What `make run` does before anything serves: the database, and a way into the admin.

Its own process, so that the supervisor needs no Django. Prints what it found as
JSON: how to log in (on a terminal, `--show`, with the password), and whether
the site needs the sandbox.
"""

import json
import os
import secrets
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import Error

USERNAME = "admin"
NEW_PASSWORD = f"{os.path.relpath(sys.executable)} manage.py changepassword {USERNAME}"


def main(*, show: bool) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    try:
        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    except Error as error:
        sys.exit(f"The database could not be set up: {error}")
    told = login(password_file(), show=show) if settings.DEBUG else ""
    sys.stdout.write(json.dumps({"login": told, "sandbox": settings.SANDBOX}))


def password_file() -> Path:
    """Beside the SQLite file that it belongs to, which is var/ unless told otherwise."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return Path(database["NAME"]).parent / "admin-password"
    return settings.BASE_DIR / "var" / "admin-password"


def login(kept: Path, *, show: bool) -> str:
    """How to log in to the admin, after making sure that somebody can."""
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
    """Kept before it is used: a user whose password nobody knows is the worse half."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.unlink(missing_ok=True)  # an older database's, perhaps with other permissions
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, f"{password}\n".encode())
    os.close(descriptor)
    return password


if __name__ == "__main__":
    main(show="--show" in sys.argv[1:])
