"""Importing django-q2 starts no process."""

import subprocess
import sys
from pathlib import Path

from drill.sites.child_env import child_env

PROGRAM = """
import multiprocessing
multiprocessing.set_start_method("forkserver")  # Python 3.14's default
import django, psutil
django.setup()
import django_q.cluster
print(len(psutil.Process().children()))
"""


def test_importing_the_queue_starts_no_helper_process():
    env = child_env(DJANGO_SETTINGS_MODULE="oracle_site.settings")
    command = [sys.executable, "-c", PROGRAM]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=True)
    assert run.stdout == "0\n"
