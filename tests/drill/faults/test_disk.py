"""The log's disk is full while the log is written, and freed again."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from audit.log import log
from audit.models import LogEntry
from drill.faults.disk import FullDevice
from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[3]

MOUNTED = """
import os, sys
from pathlib import Path
from drill.faults.disk import SmallDisk
folder = Path(sys.argv[1])
try:
    disk = SmallDisk(folder)
except PermissionError:
    sys.exit(3)
log = folder / "log"
log.write_bytes(b"x" * 5000)
disk.fill()
fd = os.open(log, os.O_WRONLY | os.O_APPEND)
print(os.write(fd, b"y" * 6000))
try:
    os.write(fd, b"y")
except OSError as error:
    print(error.errno)
disk.free()
print(os.write(fd, b"y" * 6000))
"""


def test_a_small_disk_accepts_part_of_a_write_then_nothing_then_all(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MOUNTED, str(tmp_path)],
        cwd=ROOT,
        env=child_env(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 3:
        pytest.skip("no privilege to mount: the drill then uses /dev/full")
    # Pages have 4,096 bytes, and the log's second one is partly free.
    assert done.stdout.split() == [str(8192 - 5000), str(errno.ENOSPC), "6000"], done.stderr
    assert list(tmp_path.iterdir()) == []  # mounted for that process alone


@pytest.mark.django_db(transaction=True)
def test_lines_that_the_full_device_refuses_are_written_by_the_sweep_once_it_is_freed(settings):
    disk = FullDevice(settings.ORACLE_LOG_PATH)
    log.append({"event": "before"})
    disk.fill()
    log.append({"event": "while full"})
    assert LogEntry.objects.get(written_at=None).failures == 1
    disk.free()
    log.sweep()
    lines = settings.ORACLE_LOG_PATH.read_text().splitlines()
    assert [line.count('"event"') for line in lines] == [1, 1]
    assert not LogEntry.objects.filter(written_at=None).exists()
    disk.free()  # has no effect a second time
