"""deploy/systemd as data, for tests that run the units' own command lines."""

import shlex
from pathlib import Path

from tests.programs import bring_program, find_program

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/systemd"
SERVICES = sorted(path.name for path in FOLDER.glob("*.service"))


def directives(unit: str, section: str = "Service") -> list[tuple[str, str]]:
    """Name and value of each line of a section; a name may occur several times."""
    text = (FOLDER / unit).read_text().replace("\\\n", " ")
    found, current = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            current = line.strip("[]")
        elif current == section and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.append((name, value.strip()))
    return found


def value(unit: str, name: str, section: str = "Service") -> str:
    """The one value of a directive."""
    (found,) = [value for each, value in directives(unit, section) if each == name]
    return found


def command(unit: str, name: str = "ExecStart") -> list[str]:
    """The arguments of a command line; paths in it are relative to a release, as ROOT is one."""
    return shlex.split(value(unit, name))


def find_systemd_analyze() -> str:
    """Raises ProgramMissing."""
    return find_program("systemd-analyze", "--version")


def bring_systemd_analyze() -> str:
    """As find_systemd_analyze, after an installation by apt-get where that is possible."""
    return bring_program("systemd-analyze", "--version", packages=("systemd",))
