"""The machine: pinning processes to cores, finding installed programs, describing the hardware."""

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

# The measured server and its database share one core; the load generator has the other.
SERVER_CORE: Final = 0
CLIENT_CORE: Final = 1


@contextmanager
def pinned_to_core(number: int) -> Iterator[None]:
    """Processes started inside the block stay pinned to that core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def is_installed(program: str) -> bool:
    return find_program(program) is not None


def find_program(name: str) -> str | None:
    """The path of an executable; also searches sbin, where Debian installs servers."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def describe_machine() -> str:
    """Processor, cores, memory and operating system."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
    processor = named[1].strip() if named else platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0))
    memory = psutil.virtual_memory().total / 2**30
    return f"{processor}, {cores} cores, {memory:.0f} GB, {platform.system()} {platform.release()}"


def program_version(name: str, *arguments: str) -> str:
    """The first version number in the program's output; blank if it is not installed."""
    path = find_program(name)
    if path is None:
        return ""
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    number = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
    return number[0] if number else ""
