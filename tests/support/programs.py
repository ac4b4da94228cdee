"""External programs that tests need: found, or installed with apt-get."""

import os
import shutil
import subprocess

INSTALL_TIMEOUT = 600


class ProgramMissing(Exception):
    """The program is not installed."""


def find_program(name: str, version: str) -> str:
    """The path of a program that runs with the argument `version`. Raises ProgramMissing."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if path and _succeeds(path, version):
        return path
    raise ProgramMissing(f"no {name} on this machine")


def bring_program(name: str, version: str, *, packages: tuple[str, ...]) -> str:
    """Like find_program, but tries to install the packages with apt-get."""
    try:
        return find_program(name, version)
    except ProgramMissing:
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise
    # In run level 1, packages do not start their services.
    environment = {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if not _succeeds(*install, **environment):
        raise ProgramMissing(f"no {name} on this machine, and apt-get could not install it")
    return find_program(name, version)


def _succeeds(*command: str, **environment: str) -> bool:
    try:
        run = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            timeout=INSTALL_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0
