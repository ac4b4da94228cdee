"""The smoke test against a whole site with its own processes: passes, failures, usage.

The failures of each check are tested in tests/verdicts/smoke_test.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from drill.sites.child_env import child_env
from drill.sites.live_site import LiveSite, free_port, live_site
from drill.sites.processes import ROOT
from verdicts.smoke_test.checks import CHECKS

# Runs on both databases: the site gets a new database of the configured kind.
pytestmark = pytest.mark.django_db

STAFF = "staff@oracle.example"
AS_IF_LIVE = {"DJANGO_SETTINGS_MODULE": "tests.support.live_mode_settings"}
IN_EVERY_QUERY = "beside the library"  # part of the smoke test's queries

# Makes a job look as if it had waited for an hour, and undoes that.
STALL = """
from datetime import timedelta
from django.utils import timezone
from django_q.models import OrmQ
from verdicts.models import QueueHeartbeat
long_ago = timezone.now() - timedelta(hours=1)
OrmQ.objects.create(key="generate", payload="", lock=long_ago)
QueueHeartbeat.objects.filter(queue="generate").update(moved_at=long_ago)
"""
UNSTALL = "from django_q.models import OrmQ\nOrmQ.objects.filter(payload='').delete()"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[LiveSite]:
    with live_site(tmp_path_factory.mktemp("smoke")) as running:
        running.sandbox.settings(latency=0.05)
        yield running


@pytest.fixture
def inject_fault(site) -> Iterator[Callable[..., None]]:
    """Queues faults of another client, and asserts that only these are left at the end."""

    def inject(fault: str, *, match: str = IN_EVERY_QUERY, **more: object) -> None:
        theirs.append(site.sandbox.fault("gemini", fault, times=None, match=match, **more)["id"])

    theirs: list[int] = []
    yield inject
    left = [one["id"] for one in site.sandbox.faults()]
    site.sandbox.clear_faults()
    assert left == theirs


def variables(site: LiveSite, **more: str) -> dict[str, str]:
    urls = {"SITE_URL": site.url, "SANDBOX_URL": site.sandbox.url}
    return child_env(**{**site.variables, **urls, **more})


def smoke(site: LiveSite, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "smoke_test", *arguments],
        cwd=ROOT,
        env=variables(site, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def _accept_interrupts() -> None:
    """Background jobs of a shell ignore SIGINT, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(site: LiveSite, *arguments: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "manage.py", "smoke_test", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables(site, **more),
        preexec_fn=_accept_interrupts,  # noqa: PLW1509 - safe: it only resets a signal
        **pipes,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def states(output: str) -> dict[str, str]:
    """Check name → state."""
    line = r"^(ok|not run|FAIL) +([a-z ]+?)  +(?:[\d.]+ s|–)  "
    return {name: state for state, name in re.findall(line, output, re.MULTILINE)}


def failed(run: subprocess.CompletedProcess[str], at: str) -> str:
    """The output of a run in which only the check `at`, the last, failed."""
    assert run.returncode == 1, run.stdout + run.stderr
    *before, last = states(run.stdout).items()
    assert last == (at, "FAIL"), run.stdout
    assert before == [(name, "ok") for name in list(CHECKS)[: len(before)]]
    assert re.search("^ +expected: .+\n +do: .+$", run.stdout, re.MULTILINE)
    assert re.fullmatch(r"CommandError: Failed: .*\n", run.stderr)
    return run.stdout


@contextmanager
def stopped(site: LiveSite, queue: str) -> Iterator[None]:
    """Suspends the workers of a queue."""
    workers = site.workers(queue)
    assert workers
    for one in workers:
        one.suspend()
    try:
        yield
    finally:
        for one in workers:
            if one.is_running():
                one.resume()


def test_every_check_passes_with_the_sandbox(site):
    run = smoke(site)
    assert run.returncode == 0, run.stdout + run.stderr
    assert states(run.stdout) == dict.fromkeys(CHECKS, "ok")
    assert re.search(r"^Passed: 12 ok, [\d.]+ s\.$", run.stdout, re.MULTILINE)
    assert run.stderr == ""
    assert "cs_test_" not in run.stdout  # a session id gives access to the verdict
    assert site.sandbox.faults() == []


def test_it_is_on_record_excluded_from_statistics_and_alerts_no_staff(site):
    run = smoke(site, "--tier", "quick", "--by", "ada", "--email", "eve@example.com")
    assert run.returncode == 0, run.stdout + run.stderr
    *_, totals = json.loads(site.manage("divergence_report", "--format", "json"))["rates"]
    assert totals["compared"] == 0
    lines = [json.loads(line) for line in site.log.read_text().splitlines()]
    ada = [line for line in lines if line.get("who") == "ada"]
    assert [line["action"] for line in ada] == ["mark as smoke", "evict", "mark as smoke"]
    ours = {line["session_id"] for line in ada}
    judged = [line for line in lines if line["session_id"] in ours and line not in ada]
    assert [line["smoke"] for line in judged] == [True] * 4
    assert len(site.sandbox.messages(to="eve@example.com")) == 3
    assert site.sandbox.messages(to=STAFF) == []


def pay(site: LiveSite, process: subprocess.Popen[str]) -> None:
    """Open the printed URL and pay."""
    for line in process.stdout:
        if found := re.search(r"^pay here (\S+)$", line):
            paid = site.http.post(found[1], data={"email": "eve@example.com"})
            assert paid.status_code == 303
            return
    raise AssertionError(process.stderr.read())


def test_on_a_live_site_a_person_pays_and_impossible_checks_are_not_run(site):
    with started(site, "--email", "ada@example.com", **AS_IF_LIVE) as process:
        pay(site, process)
        output = process.stdout.read()
        assert process.wait() == 0, output + process.stderr.read()
    found = {"site": "ok", **states(output)}
    not_run = {name for name, state in found.items() if state == "not run"}
    assert not_run == {"divergence", "notification", "crosscheck"}
    assert list(found) == list(CHECKS)
    assert "Passed: 9 ok, 3 not run" in output
    assert "sent to eve@example.com" in output  # as entered on the payment page


def test_a_missing_payment_on_a_live_site_fails_at_the_timeout(site):
    output = failed(smoke(site, "--timeout", "10", **AS_IF_LIVE), "purchase")
    assert "none within 10 s; the order is waiting for payment" in output
    assert "--timeout" in output


def test_an_unreachable_site(site):
    away = f"http://127.0.0.1:{free_port()}"
    output = failed(smoke(site, "--site", away), "site")
    assert f"a response from {away}/readyz" in output
    assert "unreachable" in output


def test_an_unreachable_sandbox(site):
    output = failed(smoke(site, SANDBOX_URL=f"http://127.0.0.1:{free_port()}"), "site")
    assert "SANDBOX_URL" in output


def test_another_database_than_that_of_the_site(site, tmp_path):
    other = {"DATABASE_URL": f"sqlite:///{tmp_path}/other.sqlite3"}
    output = failed(smoke(site, **other), "purchase")
    assert "migrate" in output
    migrate = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(migrate, cwd=ROOT, env=variables(site, **other), check=True)
    output = failed(smoke(site, **other), "purchase")
    assert "DATABASE_URL; nothing was paid" in output


def test_a_site_without_generate_workers(site):
    with stopped(site, "generate"):
        output = failed(smoke(site, "--timeout", "20"), "verdict")
        site.manage("shell", "-v0", "-c", STALL)
        ready = failed(smoke(site), "site")
        site.manage("shell", "-v0", "-c", UNSTALL)
    assert "is paid after 0 attempts" in output
    assert "Q_CLUSTER_NAME=generate python manage.py worker" in output
    assert "queue generate: jobs are waiting" in ready


def test_a_model_with_rejected_output(site, inject_fault):
    inject_fault("malformed")
    output = failed(smoke(site), "verdict")
    assert "the sandbox has 1 fault queued by others" in output
    assert "rejected by the gate: degenerate_manifold" in output


def test_a_model_that_does_not_follow_the_injected_fault(site, inject_fault):
    inject_fault("verdict", label="GREEN")  # older than ours, so it is used first
    assert "seen: GREEN, and GREEN" in failed(smoke(site), "regeneration")


def test_a_gate_that_approves_malformed_output(site, inject_fault):
    inject_fault("verdict", label="GREEN", match=" rejected)")
    assert "stop selling" in failed(smoke(site), "crosscheck")


def test_an_interrupt_ends_with_one_sentence(site):
    with started(site, **AS_IF_LIVE) as process:
        assert process.stdout.readline().startswith("ok")
        assert process.stdout.readline().startswith("pay here")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        stderr = process.stderr.read()
    assert stderr == "CommandError: Interrupted: 1 ok, 11 not reached.\n"


def test_a_site_with_stored_misses_regenerates_nothing(tmp_path):
    stored = {"ORACLE_CACHE_MISS": "stored"}
    with live_site(tmp_path, **stored) as site:
        run = smoke(site, "--tier", "strategy")
        mismatch = smoke(site, "--tier", "quick", ORACLE_CACHE_MISS="regenerate")
        assert site.sandbox.faults() == []
    assert run.returncode == 0, run.stdout
    found = states(run.stdout)
    not_run = {name for name, state in found.items() if state == "not run"}
    assert not_run == {"comparison", "divergence", "notification"}
    text = failed(mismatch, "regeneration")
    assert "is ORACLE_CACHE_MISS of the site the same as here?" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--timeout", "0"], "between 1 and"),
        (["--timeout", "nan"], "between 1 and"),
        (["--site", "oracle.example"], "must be a URL such as"),
        (["--site", "ftp://oracle.example"], "must be a URL such as"),
        (["--site", "http://["], "must be a URL such as"),
        (["--email", "ada"], "must be an email address such as"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as error:
        call_command("smoke_test", *arguments, stdout=StringIO())
    assert error.value.returncode == 2


@pytest.mark.parametrize("key", ["sk_live_1", "rk_live_1", "none"])
def test_nothing_is_bought_from_a_site_that_takes_real_money(settings, sandbox, key):
    settings.SANDBOX, settings.STRIPE_SECRET_KEY = False, key
    with pytest.raises(CommandError, match="takes real money") as error:
        call_command("smoke_test", "--site", sandbox.url, stdout=StringIO())
    assert error.value.returncode == 2
    assert sandbox.requests() == []
