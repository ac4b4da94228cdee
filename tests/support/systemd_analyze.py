"""Reads deploy/systemd, for tests that run the units' command lines."""

import shlex
from pathlib import Path

from drill.sites import unit_file
from tests.support.programs import bring_program, find_program

ROOT = Path(__file__).parents[2]
FOLDER = unit_file.UNITS
SERVICES = sorted(path.name for path in FOLDER.glob("*.service"))


def directives(unit: str, section: str = "Service") -> list[tuple[str, str]]:
    return unit_file.directives((FOLDER / unit).read_text(), section)


def value(unit: str, name: str, section: str = "Service") -> str:
    """The value of a directive that occurs once."""
    (found,) = [value for each, value in directives(unit, section) if each == name]
    return found


def command(unit: str, name: str = "ExecStart") -> list[str]:
    """The arguments of a command line; its paths are relative to a release, such as ROOT."""
    return shlex.split(value(unit, name))


def find_systemd_analyze() -> str:
    """Raises ProgramMissing."""
    return find_program("systemd-analyze", "--version")


def bring_systemd_analyze() -> str:
    """Like find_systemd_analyze, but tries to install it with apt-get."""
    return bring_program("systemd-analyze", "--version", packages=("systemd",))
