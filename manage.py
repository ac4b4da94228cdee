#!/usr/bin/env python
"""Oracle's commands: `manage.py help` lists them."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    try:
        _ = settings.INSTALLED_APPS  # reads the settings, and so the environment
    except ImproperlyConfigured as error:
        sys.exit(f"Oracle does not start: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
