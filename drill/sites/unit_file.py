"""Reads the systemd units of deploy/systemd: the directives needed to run them without systemd."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UNITS: Final = Path(__file__).parents[2] / "deploy/systemd"


@dataclass(frozen=True)
class Unit:
    name: str  # such as oracle-web@1
    commands: list[list[str]]  # ExecStartPre=
    command: list[str]  # ExecStart=
    environment: dict[str, str]
    runtime_directory: str  # relative to /run; empty: none
    socket: Path | None  # from the socket unit of the same name
    restart_after: float  # seconds
    stop_timeout: float  # seconds from SIGTERM to SIGKILL


def load(name: str, paths: Mapping[str, str]) -> Unit:
    """The unit of that name; `paths` are replacements in its text, such as other folders."""
    template, at, instance = name.partition("@")
    service = _read(UNITS / f"{template}{at}.service", "Service", instance, paths)
    socket = UNITS / f"{template}{at}.socket"
    listens = []
    if socket.exists():
        listens = _read(socket, "Socket", instance, paths)["ListenStream"]
    assignments = [one.partition("=") for one in service.get("Environment", [])]
    return Unit(
        name,
        commands=[shlex.split(one) for one in service.get("ExecStartPre", [])],
        command=shlex.split(service["ExecStart"][0]),
        environment={variable: value for variable, _, value in assignments},
        runtime_directory=service.get("RuntimeDirectory", [""])[0],
        socket=Path(listens[0]) if listens else None,
        restart_after=float(service["RestartSec"][0]),
        stop_timeout=float(service["TimeoutStopSec"][0]),
    )


def directives(text: str, section: str) -> list[tuple[str, str]]:
    """Name and value of each directive of a section; a name can occur several times."""
    found, current = [], ""
    for line in text.replace("\\\n", " ").splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("["):
            current = line.strip("[]")
        elif current == section and equals and not line.startswith("#"):
            found.append((name, value.strip()))
    return found


def _read(
    path: Path, section: str, instance: str, paths: Mapping[str, str]
) -> dict[str, list[str]]:
    """The values of each directive, in order."""
    text = path.read_text().replace("%i", instance)
    for before, after in paths.items():
        text = text.replace(before, after)
    found: dict[str, list[str]] = {}
    for name, value in directives(text, section):
        found.setdefault(name, []).append(value)
    return found
