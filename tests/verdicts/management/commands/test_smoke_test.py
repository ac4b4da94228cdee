"""The smoke test against a whole site in processes of its own: how it ends well, and how not.

What each check says of what can befall it is in tests/verdicts/smoke_test.
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

# Once on each database, which the site itself is given a new one of.
pytestmark = pytest.mark.django_db

STAFF = "staff@oracle.example"
AS_IF_LIVE = {"DJANGO_SETTINGS_MODULE": "tests.support.live_mode_settings"}
IN_EVERY_QUERY = "beside the library"  # so that a fault of somebody else's meets it

# As if a job had waited for an hour, and then as if it had not.
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
def drill(site) -> Iterator[Callable[..., None]]:
    """A fault of somebody else's: the smoke test neither clears it nor leaves its own."""

    def order(fault: str, *, match: str = IN_EVERY_QUERY, **more: object) -> None:
        theirs.append(site.sandbox.fault("gemini", fault, times=None, match=match, **more)["id"])

    theirs: list[int] = []
    yield order
    left = [one["id"] for one in site.sandbox.faults()]
    site.sandbox.clear_faults()
    assert left == theirs


def variables(site: LiveSite, **more: str) -> dict[str, str]:
    addresses = {"SITE_URL": site.url, "SANDBOX_URL": site.sandbox.url}
    return child_env(**{**site.variables, **addresses, **more})


def smoke(site: LiveSite, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "smoke_test", *arguments],
        cwd=ROOT,
        env=variables(site, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def _hear_interrupts() -> None:
    """What runs in the background of a shell is deaf to them, and so is what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def begun(site: LiveSite, *arguments: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "manage.py", "smoke_test", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables(site, **more),
        preexec_fn=_hear_interrupts,  # noqa: PLW1509 - nothing but that, and no other way
        **pipes,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def states(told: str) -> dict[str, str]:
    """What each check came to, by the lines that begin with it."""
    line = r"^(ok|not run|FAIL) +([a-z ]+?)  +(?:[\d.]+ s|–)  "
    return {name: state for state, name in re.findall(line, told, re.MULTILINE)}


def failed(done: subprocess.CompletedProcess[str], at: str) -> str:
    """What it said of the check that failed; those before went well, none came after."""
    assert done.returncode == 1, done.stdout + done.stderr
    *before, last = states(done.stdout).items()
    assert last == (at, "FAIL"), done.stdout
    assert before == [(name, "ok") for name in list(CHECKS)[: len(before)]]
    assert re.search("^ +expected: .+\n +do: .+$", done.stdout, re.MULTILINE)
    assert re.fullmatch(r"CommandError: Not well: .*\n", done.stderr)
    return done.stdout


@contextmanager
def stopped(site: LiveSite, queue: str) -> Iterator[None]:
    """The workers of a queue as if there were none: they do not move."""
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


def test_every_check_goes_well_at_the_sandbox(site):
    done = smoke(site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(done.stdout) == dict.fromkeys(CHECKS, "ok")
    assert re.search(r"^All is well: 12 ok, [\d.]+ s\.$", done.stdout, re.MULTILINE)
    assert done.stderr == ""
    assert "cs_test_" not in done.stdout  # the key to a verdict
    assert site.sandbox.faults() == []


def test_it_is_on_record_and_in_no_figure_and_calls_nobody(site):
    done = smoke(site, "--tier", "quick", "--by", "ada", "--email", "eve@example.com")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, everything = json.loads(site.manage("divergence_report", "--format", "json"))["rates"]
    assert everything["compared"] == 0
    lines = [json.loads(line) for line in site.log.read_text().splitlines()]
    ada = [line for line in lines if line.get("who") == "ada"]
    assert [line["action"] for line in ada] == ["mark as smoke", "evict", "mark as smoke"]
    ours = {line["session_id"] for line in ada}
    judged = [line for line in lines if line["session_id"] in ours and line not in ada]
    assert [line["smoke"] for line in judged] == [True] * 4
    assert len(site.sandbox.messages(to="eve@example.com")) == 3
    assert site.sandbox.messages(to=STAFF) == []


def pay(site: LiveSite, process: subprocess.Popen[str]) -> None:
    """As somebody does who opens the address that was printed."""
    for line in process.stdout:
        if found := re.search(r"^pay here (\S+)$", line):
            paid = site.http.post(found[1], data={"email": "eve@example.com"})
            assert paid.status_code == 303
            return
    raise AssertionError(process.stderr.read())


def test_at_a_live_site_somebody_pays_and_what_cannot_be_induced_is_not_run(site):
    with begun(site, "--email", "ada@example.com", **AS_IF_LIVE) as process:
        pay(site, process)
        told = process.stdout.read()
        assert process.wait() == 0, told + process.stderr.read()
    found = {"site": "ok", **states(told)}
    not_run = {name for name, state in found.items() if state == "not run"}
    assert not_run == {"divergence", "notification", "crosscheck"}
    assert list(found) == list(CHECKS)
    assert "All is well: 9 ok, 3 not run" in told
    assert "sent to eve@example.com" in told  # as it was typed on the payment page


def test_a_live_site_that_nobody_pays_at_is_waited_for_as_long_as_was_said(site):
    told = failed(smoke(site, "--timeout", "10", **AS_IF_LIVE), "purchase")
    assert "none within 10 s; the order is waiting for payment" in told
    assert "--timeout" in told


def test_a_site_that_is_not_there(site):
    away = f"http://127.0.0.1:{free_port()}"
    told = failed(smoke(site, "--site", away), "site")
    assert f"an answer of {away}/readyz" in told
    assert "unreachable" in told


def test_a_sandbox_that_is_not_there(site):
    told = failed(smoke(site, SANDBOX_URL=f"http://127.0.0.1:{free_port()}"), "site")
    assert "SANDBOX_URL" in told


def test_another_database_than_the_sites(site, tmp_path):
    other = {"DATABASE_URL": f"sqlite:///{tmp_path}/other.sqlite3"}
    told = failed(smoke(site, **other), "purchase")
    assert "migrate" in told
    migrate = [sys.executable, "manage.py", "migrate", "-v0"]
    subprocess.run(migrate, cwd=ROOT, env=variables(site, **other), check=True)
    told = failed(smoke(site, **other), "purchase")
    assert "DATABASE_URL; nothing was paid" in told


def test_a_site_without_workers_that_judge(site):
    with stopped(site, "generate"):
        told = failed(smoke(site, "--timeout", "20"), "verdict")
        site.manage("shell", "-v0", "-c", STALL)
        ready = failed(smoke(site), "site")
        site.manage("shell", "-v0", "-c", UNSTALL)
    assert "is paid after 0 attempts" in told
    assert "Q_CLUSTER_NAME=generate python manage.py worker" in told
    assert "queue generate: jobs wait" in ready


def test_a_model_that_answers_badly(site, drill):
    drill("malformed")
    told = failed(smoke(site), "verdict")
    assert "the sandbox has 1 fault queued by others" in told
    assert "rejected by the gate: degenerate_manifold" in told


def test_a_model_that_does_not_say_what_was_ordered(site, drill):
    drill("verdict", label="GREEN")  # it is older, so ours is never met
    assert "seen: GREEN, beside GREEN" in failed(smoke(site), "regeneration")


def test_an_answer_that_should_be_bad_and_is_let_out(site, drill):
    drill("verdict", label="GREEN", match=" rejected)")
    assert "stop selling" in failed(smoke(site), "crosscheck")


def test_interrupted_it_ends_in_a_sentence(site):
    with begun(site, **AS_IF_LIVE) as process:
        assert process.stdout.readline().startswith("ok")
        assert process.stdout.readline().startswith("pay here")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        said = process.stderr.read()
    assert said == "CommandError: Stopped by you: 1 ok, 11 not reached.\n"


def test_a_stored_site_makes_nothing_again(tmp_path):
    stored = {"ORACLE_CACHE_MISS": "stored"}
    with live_site(tmp_path, **stored) as site:
        done = smoke(site, "--tier", "strategy")
        taken_for_open = smoke(site, "--tier", "quick", ORACLE_CACHE_MISS="regenerate")
        assert site.sandbox.faults() == []
    assert done.returncode == 0, done.stdout
    found = states(done.stdout)
    not_run = {name for name, state in found.items() if state == "not run"}
    assert not_run == {"comparison", "divergence", "notification"}
    assert "is ORACLE_CACHE_MISS the same here and there?" in failed(taken_for_open, "regeneration")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--timeout", "0"], "between 1 and"),
        (["--timeout", "nan"], "between 1 and"),
        (["--site", "oracle.example"], "is an address such as"),
        (["--site", "ftp://oracle.example"], "is an address such as"),
        (["--site", "http://["], "is an address such as"),
        (["--email", "ada"], "is an address such as"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as refused:
        call_command("smoke_test", *arguments, stdout=StringIO())
    assert refused.value.returncode == 2


@pytest.mark.parametrize("key", ["sk_live_1", "rk_live_1", "none"])
def test_a_site_that_takes_real_money_is_not_bought_from(settings, sandbox, key):
    settings.SANDBOX, settings.STRIPE_SECRET_KEY = False, key
    with pytest.raises(CommandError, match="takes real money") as refused:
        call_command("smoke_test", "--site", sandbox.url, stdout=StringIO())
    assert refused.value.returncode == 2
    assert sandbox.requests() == []
