"""Another process that writes the log; `Elsewhere` starts it with the test's database and file.

python -m tests.support.log_process WHAT [NUMBER]
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import django

ROOT = Path(__file__).parents[2]


class Elsewhere:
    def __init__(self, log_path: Path, log_name: str) -> None:
        self._environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "ORACLE_LOG_PATH": str(log_path),
            "ORACLE_LOG_NAME": log_name,
        }

    def start(self, what: str, number: int = 1) -> subprocess.Popen:
        command = [sys.executable, "-m", "tests.support.log_process", what, str(number)]
        return subprocess.Popen(
            command, cwd=ROOT, env=self._environment, stdout=subprocess.PIPE, text=True
        )

    def run(self, what: str, number: int = 1) -> int:
        with self.start(what, number) as process:
            return process.wait()


def database_url() -> str:
    from django.db import connection  # noqa: PLC0415 - needs settings

    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def main(what: str, number: int) -> None:
    django.setup()
    from django.conf import settings  # noqa: PLC0415 - needs setup

    from audit.log import log, writer  # noqa: PLC0415 - needs setup
    from audit.log.file import locked  # noqa: PLC0415 - needs setup
    from tests.support.log_entries import checked  # noqa: PLC0415 - needs setup

    if what == "hold the lock":
        with locked(settings.ORACLE_LOG_PATH, 1) as held:
            print(held, flush=True)
            time.sleep(60)
    if what == "die before marking":
        writer.mark = lambda _lines: os.kill(os.getpid(), signal.SIGKILL)
    if what == "fill the disk":
        # Room for the existing lines and a part of the next one.
        limit = settings.ORACLE_LOG_PATH.stat().st_size + 100
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if what == "may not write":
        obey_permissions()
    for turn in range(number):
        log.append(checked(f"cs_test_{os.getpid()}x{turn:08}"))
    if what == "sweep":
        log.sweep()


def obey_permissions() -> None:
    """Drops root's CAP_DAC_OVERRIDE, so that file permissions apply to it."""
    version_3, cap_dac_override = 0x20080522, 1
    header = (ctypes.c_uint32 * 2)(version_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.capget(header, sets) == 0
    for index in range(3):
        sets[index] &= ~(1 << cap_dac_override)
    assert libc.capset(header, sets) == 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    main(sys.argv[1], int(sys.argv[2]))
