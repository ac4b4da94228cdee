"""`manage.py worker` end to end: a stalled or killed pool is replaced."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from django_q.models import OrmQ

from drill.sites.child_env import child_env
from drill.sites.live_site import database_url
from drill.sites.processes import wait_for
from verdicts.jobs import queue
from verdicts.jobs.worker_health import Heartbeat
from verdicts.management.commands.worker import stalled

ROOT = Path(__file__).parents[4]
# On PostgreSQL, the tests of whole sites cover the pools.
pytestmark = pytest.mark.once


def manage(*arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=child_env(**environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def done(*arguments: str, **environment: str) -> None:
    process = manage(*arguments, **environment)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr


@pytest.fixture
def post_queue(tmp_path):
    """Environment variables of a `post` pool on a new database."""
    with database_url(tmp_path) as url:
        environment = {
            "DATABASE_URL": url,
            "Q_CLUSTER_NAME": "post",
            "DJANGO_SETTINGS_MODULE": "tests.support.hurried_queues",  # redelivery after 6 s
        }
        done("migrate", "-v0", **environment)
        yield environment


def replaced(environment: dict[str, str], damage: Callable[[list[psutil.Process]], None]) -> str:
    """The stderr of `manage.py worker` after its pool was damaged before it got jobs.

    The replacement has done all of them.
    """
    main = manage("worker", "--stall-timeout", "2", **environment)
    before = wait_for_pool(main.pid)
    damage(before)
    enqueue = "from verdicts.jobs import queue; [queue.enqueue(queue.SWEEP) for _ in range(3)]"
    done("shell", "-c", enqueue, **environment)
    try:
        wait_for(lambda: printed(LEFT, **environment) == "0")
        wait_for(lambda: not any(one.is_running() for one in before))
    finally:
        main.send_signal(signal.SIGTERM)
        _, stderr = main.communicate(timeout=60)
    assert main.returncode == 0
    return stderr


@pytest.mark.django_db
def test_a_pool_whose_lock_died_with_a_worker_is_replaced(post_queue):
    """An idle worker holds the lock of the pool's queue (django-q2's issue 23)."""

    def kill_idle_workers(pool: list[psutil.Process]) -> None:
        for one in pool[1:3]:
            one.kill()

    stderr = replaced(post_queue, kill_idle_workers)
    expected = "post: A job was taken 2 s ago, and none has finished since: the pool is replaced"
    assert expected in stderr


@pytest.mark.django_db
def test_a_pool_that_never_acknowledges_jobs_is_replaced(post_queue):
    def kill_monitor(pool: list[psutil.Process]) -> None:
        pool[3].kill()

    stderr = replaced(post_queue, kill_monitor)
    expected = "post: A job was taken 2 s ago, and none has finished since: the pool is replaced"
    assert expected in stderr


@pytest.mark.django_db
def test_a_pool_that_takes_no_jobs_is_replaced(post_queue):
    def stop_pusher(pool: list[psutil.Process]) -> None:
        pool[4].suspend()

    stderr = replaced(post_queue, stop_pusher)
    assert "post: No job was taken for 2 s: the pool is replaced" in stderr


@pytest.mark.django_db
def test_a_pool_whose_guard_is_stuck_is_replaced(post_queue):
    def stop_guard(pool: list[psutil.Process]) -> None:
        pool[0].suspend()

    stderr = replaced(post_queue, stop_guard)
    assert "post: The guard has not checked the workers for 2 s: the pool is replaced" in stderr


@pytest.mark.django_db
def test_a_killed_pool_is_replaced(post_queue):
    def kill_all(pool: list[psutil.Process]) -> None:
        os.killpg(os.getpgid(pool[0].pid), signal.SIGKILL)

    assert "post: The pool ended by itself: the pool is replaced" in replaced(post_queue, kill_all)


@pytest.mark.django_db
def test_no_process_outlives_a_killed_main_process(post_queue):
    main = manage("worker", **post_queue)
    pool = wait_for_pool(main.pid)
    main.kill()
    wait_for(lambda: not any(one.is_running() for one in pool))
    main.communicate(timeout=30)


@pytest.mark.django_db(transaction=True)  # stalled() closes old connections
def test_a_clock_jump_does_not_replace_a_working_pool():
    queue.enqueue(queue.SWEEP, delay=-3_600)  # looks an hour old after a clock jump
    working, stalled_pool = Heartbeat(), Heartbeat()
    working.job_taken()
    assert stalled(queue.POST, working, 600) == ""
    assert stalled(queue.POST, stalled_pool, 600) == "No job was taken for 600 s"


@pytest.mark.django_db
def test_a_working_pool_is_not_replaced(post_queue):
    workers = manage("worker", "--stall-timeout", "2", **post_queue)
    wait_for_pool(workers.pid)
    job = "from verdicts.jobs import queue; queue.enqueue(queue.SWEEP)"
    for _ in range(4):
        done("shell", "-c", job, **post_queue)
    assert workers.poll() is None
    workers.send_signal(signal.SIGTERM)
    _, stderr = workers.communicate(timeout=30)
    assert (workers.returncode, stderr) == (0, "")


def wait_for_pool(pid: int) -> list[psutil.Process]:
    """Guard, two workers, monitor and pusher, in the order in which they were started."""
    for _ in range(300):
        children = all_children(pid)
        if len(children) >= 6:
            return children[1:]  # the first one leads their process group
        time.sleep(0.1)
    raise AssertionError("the workers never came")


def all_children(pid: int) -> list[psutil.Process]:
    try:
        return sorted(psutil.Process(pid).children(recursive=True), key=lambda one: one.pid)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.django_db
def test_sigterm_while_the_pool_starts_stops_it(post_queue):
    main = manage("worker", **post_queue)
    wait_for(lambda: bool(all_children(main.pid)))
    main.send_signal(signal.SIGTERM)
    main.communicate(timeout=30)
    assert main.returncode == 0


def test_a_graceful_shutdown_is_not_a_stall(tmp_path):
    environment = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/a.sqlite3",
        "Q_CLUSTER_NAME": "generate",
    }
    done("migrate", "-v0", **environment)
    workers = manage("worker", **environment)
    wait_for_pool(workers.pid)
    workers.send_signal(signal.SIGTERM)
    workers.communicate(timeout=30)
    assert workers.returncode == 0


def test_without_a_queue_name_the_error_says_what_to_set(tmp_path):
    run = manage("worker", DATABASE_URL=f"sqlite:///{tmp_path}/a.sqlite3")
    _, stderr = run.communicate(timeout=30)
    assert run.returncode == 2
    assert "Set Q_CLUSTER_NAME to generate or post." in stderr


@pytest.mark.django_db
def test_every_job_is_on_a_queue_that_has_workers():
    for job in queue.JOBS:
        queue.enqueue(job, 1)
    assert set(OrmQ.objects.values_list("key", flat=True)) == {queue.GENERATE, queue.POST}


LEFT = "from django_q.models import OrmQ; print(OrmQ.objects.count())"


def printed(code: str, **environment: str) -> str:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    run = subprocess.run(
        command, cwd=ROOT, env=child_env(**environment), check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


@pytest.mark.django_db
def test_rotating_the_secret_key_loses_no_job(tmp_path):
    """A job queued with the old key is done with the new one."""
    with database_url(tmp_path) as url:
        before = {"DATABASE_URL": url, "SECRET_KEY": "k" * 50, "Q_CLUSTER_NAME": "post"}
        done("migrate", "-v0", **before)
        # Without schedules, so that this sweep is the only job.
        queued = (
            "from django_q.models import Schedule; Schedule.objects.all().delete();"
            "from verdicts.jobs import queue; queue.enqueue(queue.SWEEP)"
        )
        printed(queued, **before)
        after = {**before, "SECRET_KEY": "n" * 50, "SECRET_KEY_FALLBACKS": "k" * 50}
        workers = manage("worker", **after)
        try:
            taken = (
                "from verdicts.models import QueueHeartbeat; print(QueueHeartbeat.objects.count())"
            )
            wait_for(lambda: printed(taken, **after) == "1" and printed(LEFT, **after) == "0")
        finally:
            workers.send_signal(signal.SIGTERM)
            _, stderr = workers.communicate(timeout=60)
        assert "Failed" not in stderr
