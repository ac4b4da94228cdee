"""Workers as processes: what they do when somebody holds their lock for good."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from django_q.models import OrmQ

from tests.child_env import child_env
from tests.live_site import database_url
from tests.oracle_site.supervise.house import wait_for
from verdicts import queue

ROOT = Path(__file__).parents[4]


def manage(*arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=child_env(**environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(*arguments: str, **environment: str) -> None:
    process = manage(*arguments, **environment)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said


@pytest.mark.django_db
def test_a_pool_that_no_longer_moves_ends_so_that_it_can_be_started_again(tmp_path):
    with database_url(tmp_path) as url:
        environment = {"DATABASE_URL": url, "Q_CLUSTER_NAME": "post"}
        done("migrate", "-v0", **environment)
        workers = manage("work", "--patience", "1", **environment)
        group = wait_for_children(workers.pid)
        for one in group:  # as good as waiting for a lock that nobody releases
            one.suspend()
        job = "from verdicts import queue; queue.enqueue(queue.DELIVER, 1)"
        done("shell", "-c", job, **environment)
        try:
            code = workers.wait(timeout=30)
        finally:
            for one in group:
                one.kill()
            workers.kill()
            _, said = workers.communicate(timeout=30)
        assert code == 3
        assert "No job was taken from post for 1 s" in said


def wait_for_children(pid: int) -> list[psutil.Process]:
    """Sentinel, pusher, monitor and two workers."""
    for _ in range(300):
        children = psutil.Process(pid).children(recursive=True)
        if len(children) >= 5:
            return children
        time.sleep(0.1)
    raise AssertionError("the workers never came")


def test_a_wanted_stop_is_no_stall(tmp_path):
    environment = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/a.sqlite3",
        "Q_CLUSTER_NAME": "generate",
    }
    done("migrate", "-v0", **environment)
    workers = manage("work", **environment)
    wait_for_children(workers.pid)
    workers.send_signal(signal.SIGTERM)
    workers.communicate(timeout=30)
    assert workers.returncode == 0


def test_without_a_queue_it_says_what_to_set(tmp_path):
    run = manage("work", DATABASE_URL=f"sqlite:///{tmp_path}/a.sqlite3")
    _, said = run.communicate(timeout=30)
    assert run.returncode == 2
    assert "Set Q_CLUSTER_NAME to generate or post." in said


@pytest.mark.django_db
def test_jobs_are_on_the_queues_that_are_worked():
    for job in queue.QUEUE_OF:
        queue.enqueue(job, 1)
    assert set(OrmQ.objects.values_list("key", flat=True)) == {queue.GENERATE, queue.POST}


def told(code: str, **environment: str) -> str:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    run = subprocess.run(
        command, cwd=ROOT, env=child_env(**environment), check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


@pytest.mark.django_db
def test_a_new_key_loses_no_job(tmp_path):
    """Queued under the one key, done under the other."""
    with database_url(tmp_path) as url:
        before = {"DATABASE_URL": url, "SECRET_KEY": "k" * 50, "Q_CLUSTER_NAME": "post"}
        done("migrate", "-v0", **before)
        # Without its schedule: this one sweep is the only job there is.
        queued = (
            "from django_q.models import Schedule; Schedule.objects.all().delete();"
            "from verdicts import queue; queue.enqueue(queue.SWEEP)"
        )
        told(queued, **before)
        after = {**before, "SECRET_KEY": "n" * 50, "SECRET_KEY_FALLBACKS": "k" * 50}
        workers = manage("work", **after)
        try:
            taken = "from verdicts.models import QueuePulse; print(QueuePulse.objects.count())"
            left = "from django_q.models import OrmQ; print(OrmQ.objects.count())"
            wait_for(lambda: told(taken, **after) == "1" and told(left, **after) == "0")
        finally:
            workers.send_signal(signal.SIGTERM)
            _, said = workers.communicate(timeout=60)
        assert "Failed" not in said
