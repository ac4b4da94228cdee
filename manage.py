#!/usr/bin/env python
"""Oracle's commands: `manage.py help` lists them; `manage.py --version` is Oracle's version."""

import os
import platform
import sys

from django import get_version
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from oracle_site.dev.running_site import running_site
from oracle_site.version import VERSION


def main() -> None:
    for number, word in enumerate(sys.argv[1:], start=1):
        # No command could print it, or look for it in a database.
        if not _is_text(word):
            sys.stderr.write(f"Argument {number} is not UTF-8 text: {word!a}\n")
            sys.exit(2)
    if sys.argv[1:] in (["--version"], ["version"]):  # whatever the settings are
        runtime = f"Django {get_version()}, Python {platform.python_version()}"
        sys.stdout.write(f"Oracle {VERSION} ({runtime})\n")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    for name, address in running_site(os.environ).items():
        os.environ.setdefault(name, address)  # so that a command talks to the site of this folder
    try:
        _ = settings.INSTALLED_APPS  # reads the settings, and so the environment
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    execute_from_command_line(sys.argv)


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


if __name__ == "__main__":
    main()
