"""The machine that all of it runs on: its cores, what is installed, and how to name it."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

# What serves, its database included, has one core; who asks has the other.
SERVER: Final = 0
CLIENT: Final = 1


@contextmanager
def on_core(number: int) -> Iterator[None]:
    """What is started in the block runs on that core for good."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def is_installed(program: str) -> bool:
    return found(program) is not None


def found(program: str) -> str | None:
    """Where it is; Debian keeps servers where only root's PATH leads."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def describe() -> str:
    """Processor, cores, memory, system."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
    processor = named[1].strip() if named else platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0))
    memory = psutil.virtual_memory().total / 2**30
    return f"{processor}, {cores} cores, {memory:.0f} GB, {platform.system()} {platform.release()}"


def version_of(program: str, *arguments: str) -> str:
    """The first version number that the program tells of itself; blank where it is not there."""
    path = found(program)
    if path is None:
        return ""
    said = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    number = re.search(r"\d+\.\d+(\.\d+)?", said.stdout + said.stderr)
    return number[0] if number else ""
