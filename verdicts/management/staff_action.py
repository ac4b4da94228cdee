"""Arguments of commands that are recorded as a staff action: who, and why."""

import getpass
from argparse import ArgumentParser

from django.core.management.base import CommandError


def add_reason_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, help="why; it is written to the log")


def add_by_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--by", default="", help="your name (default: this login's)")


def clean_reason(reason: str) -> str:
    """Raises CommandError for a blank reason."""
    if not reason.strip():
        raise CommandError("Say why: --reason must not be blank.")
    return reason.strip()


def staff_name(by: str) -> str:
    return by.strip() or getpass.getuser()
