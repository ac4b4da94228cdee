"""Arguments of commands that are recorded as a staff action: who, and why."""

import getpass
from argparse import ArgumentParser

from django.core.management.base import CommandError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, help="why; it is written to the log")
    add_by_argument(parser)


def add_by_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--by", default="", help="your name (default: this login's)")


def who_and_why(*, by: str, reason: str) -> tuple[str, str]:
    """Raises CommandError if the reason is blank."""
    if not reason.strip():
        raise CommandError("Say why: --reason must not be blank.")
    return who(by), reason.strip()


def who(by: str) -> str:
    return by.strip() or getpass.getuser()
