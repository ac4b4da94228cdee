"""The units of deploy/systemd, as far as running them without systemd needs them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UNITS: Final = Path(__file__).parents[1] / "deploy/systemd"


@dataclass(frozen=True)
class Unit:
    name: str  # such as oracle-web@1
    commands: list[list[str]]  # of ExecStartPre=
    command: list[str]  # of ExecStart=
    environment: dict[str, str]
    runtime_directory: str  # its name, below the folder of run-time files; may be blank
    socket: Path | None  # of the socket unit of that name
    restart_after: float  # seconds
    stop_timeout: float  # seconds from SIGTERM to SIGKILL


def load(name: str, paths: Mapping[str, str]) -> Unit:
    """The unit of that name, with the beginnings of its paths replaced."""
    template, at, instance = name.partition("@")
    service = _read(UNITS / f"{template}{at}.service", instance, paths)
    socket = UNITS / f"{template}{at}.socket"
    listens = _read(socket, instance, paths)["ListenStream"] if socket.exists() else []
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


def _read(path: Path, instance: str, paths: Mapping[str, str]) -> dict[str, list[str]]:
    """Each key's values, in order."""
    text = path.read_text().replace("\\\n", " ").replace("%i", instance)
    for before, after in paths.items():
        text = text.replace(before, after)
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key.strip(), []).append(value.strip())
    return found
