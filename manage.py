#!/usr/bin/env python
"""Runs Oracle's commands; `manage.py help` lists them, `manage.py --version` prints the version."""

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
    for number, argument in enumerate(sys.argv[1:], start=1):
        # Lone surrogates can be neither printed nor looked up in a database.
        if not _is_text(argument):
            sys.stderr.write(f"Argument {number} is not UTF-8 text: {argument!a}\n")
            sys.exit(2)
    if sys.argv[1:] in (["--version"], ["version"]):  # works with invalid settings, too
        runtime = f"Django {get_version()}, Python {platform.python_version()}"
        sys.stdout.write(f"Oracle {VERSION} ({runtime})\n")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    for name, url in running_site(os.environ).items():
        os.environ.setdefault(name, url)  # commands talk to the site that runs from this directory
    try:
        _ = settings.INSTALLED_APPS  # loads the settings, which read the environment
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    execute_from_command_line(sys.argv)


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


if __name__ == "__main__":
    main()
