"""Runs every command line in the documentation, and compares its result with the page."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import get_commands

from drill.sites.child_env import child_env
from drill.sites.live_site import LiveSite, live_site
from drill.sites.processes import wait_for
from tests.support.documented import PAGES, ROOT, Documented, everything_documented
from tests.support.verdict_payloads import complete

DOCUMENTED = everything_documented()
COMMANDS = [one for one in DOCUMENTED if one.program == "manage.py"]
TARGETS = [one for one in DOCUMENTED if one.program == "make"]

# Long-running commands, and the test that runs each of them.
RUN_ELSEWHERE = {
    "make run": "oracle_site/test_run.py",
    "make test": "test_runner.py",
    "make audit": "test_advisories.py",
    "make bench": "../benchmarks/gate.py",
    "make drill": "drill/management/commands/test_drill.py",
    "make crowd": "drill/management/commands/test_drill.py",
    "manage.py drill --orders 100 --seed 7": "drill/management/commands/test_drill.py",
    "manage.py drill --orders 100 --database postgres": "drill/management/commands/test_drill.py",
    "manage.py drill --orders 60 --crowd 6": "drill/management/commands/test_drill.py",
    "make screenshots": "screenshots.py",
    "manage.py smoke_test --timeout 20": "verdicts/management/commands/test_smoke_test.py",  # 20 s
}
# Pages whose commands one test runs from top to bottom.
TESTED_AS_A_WHOLE = {"BACKUP.md": "test_restore.py"}
# Placeholders of a session id.
PLACEHOLDERS = ("cs_test_...", "SESSION")
OTHER = "other@example.com"
# Standard input, typed or piped.
INPUTS = {
    "erase_customer": "erase\n",
    "score_verdict": json.dumps(complete("strategy")),
}


REVIEWED = """
from django.contrib.auth.models import User
from verdicts.models import Case
from verdicts.review.cases import close_all
close_all(Case.objects.all(), Case.Outcome.CORRECT, who=User.objects.get(), note="as it should be")
"""

SECOND_FACTOR = """
from django.contrib.auth.models import User
from django_otp.plugins.otp_totp.models import TOTPDevice
TOTPDevice.objects.create(user=User.objects.create_user("ada", is_staff=True), confirmed=True)
"""


def is_run_here(one: Documented) -> bool:
    return str(one) not in RUN_ELSEWHERE and one.page not in TESTED_AS_A_WHOLE


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The working directory, with the files that the pages name."""
    path = tmp_path_factory.mktemp("documented")
    (path / "answer.json").write_text(json.dumps(complete("full")))
    quick = complete("quick")
    (path / "answers.jsonl").write_text(f"{json.dumps(quick)}\n" * 2)
    (path / "corpus.jsonl").write_text(json.dumps({"tier": "quick", "output": quick}))
    return path


@pytest.fixture(scope="module")
def site(folder) -> Iterator[LiveSite]:
    """A site with the customers that the pages name, spare orders of OTHER, and a closed case."""
    with live_site(folder) as running:
        running.sandbox.settings(latency=0)
        for email, count in (("buyer@example.com", 2), (OTHER, 3)):
            for _ in range(count):
                running.buy("full", "A ferry to the island?", email)
            running.wait_for_mail(email, count=count)
        running.sandbox.fault("gemini", "malformed")
        rejected = running.buy("full", "A ferry to the moon?", "rejected@example.com")
        wait_for(lambda: running.api(rejected).status_code == 422)
        for preparation in (REVIEWED, SECOND_FACTOR):
            running.manage("shell", "--no-imports", "-c", preparation)
        yield running


def run(site: LiveSite, folder: Path, listed: list[Documented], **variables: str) -> list[dict]:
    # A command may use up its session, so each gets a new one.
    sessions = iter([one["id"] for one in site.sandbox.sessions() if OTHER in json.dumps(one)])
    commands = [
        {
            "arguments": [next(sessions) if arg in PLACEHOLDERS else arg for arg in one.arguments],
            "input": INPUTS.get(one.arguments[0], ""),
        }
        for one in listed
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.command_driver"],
        cwd=folder,
        env=child_env(**{**site.variables, "SANDBOX_URL": site.sandbox.url, **variables})
        | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests/support/fence'}", "SITE_URL": site.url},
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_commands_shown_as_successful_succeed(site, folder):
    listed = [
        one for one in COMMANDS if is_run_here(one) and not one.fails and not moves_database(one)
    ]
    listed = list({str(one): one for one in listed}.values())
    assert len(listed) > 15
    for one, done in zip(listed, run(site, folder, listed), strict=True):
        assert done["code"] == 0, f"{one.page}: {one} ended with {done}"


def moves_database(one: Documented) -> bool:
    """Whether the command is in a block that moves all data to another database."""
    block = [other for other in COMMANDS if (other.page, other.block) == (one.page, one.block)]
    return any("loaddata" in other.arguments for other in block)


def test_all_data_moves_to_another_database(site, folder):
    listed = [one for one in COMMANDS if moves_database(one)]
    assert [one.arguments[0] for one in listed] == [
        "dumpdata",
        "migrate",
        "loaddata",
        "audit_verify",
    ]
    (dumped,) = run(site, folder, listed[:1])
    assert dumped["code"] == 0, dumped["err"]
    other = {"DATABASE_URL": f"sqlite:///{folder}/moved.sqlite3"}
    done = run(site, folder, listed[1:], **other)
    assert [one["code"] for one in done] == [0, 0, 0], [one["err"] for one in done]
    assert done[-1]["out"].startswith("Sound: ")


@contextmanager
def a_changed_line(site: LiveSite) -> Iterator[None]:
    whole = site.log.read_bytes()
    site.log.write_bytes(whole.replace(b'"tier":"full"', b'"tier":"FULL"', 1))
    yield
    site.log.write_bytes(whole)


@contextmanager
def payments_without_webhook(site: LiveSite) -> Iterator[None]:
    """One that reconcile repairs, and one with a wrong amount, which needs a person."""
    for price in (500, 100):
        made = site.sandbox.create_session(
            metadata={"tier": "full", "query_0": "A ferry?"},
            amount_subtotal=price,
            amount_total=price,
            created=int(time.time()) - 300,  # so long ago that the webhook counts as lost
            currency="cad",
            payment_status="paid",
            status="complete",
        )
        assert made
    yield


SITUATIONS: dict[str, Callable[[LiveSite], object]] = {
    "manage.py audit_verify": a_changed_line,
    "manage.py reconcile": payments_without_webhook,
    "manage.py reconcile --apply": payments_without_webhook,
}


@pytest.mark.parametrize(
    "one", [one for one in COMMANDS if is_run_here(one) and one.fails], ids=str
)
def test_commands_shown_as_failing_fail_with_the_same_error(site, folder, one):
    assert str(one) in SITUATIONS, "shown as failing: add what makes it fail to SITUATIONS"
    with SITUATIONS[str(one)](site):
        (done,) = run(site, folder, [one])
    assert done["code"] == 1, done
    shown = re.search(r"CommandError: (\w+ ?\w*)", one.shown)[1]  # numbers and names differ
    assert "CommandError: " in done["err"]
    stem = shown.split()[-1].removesuffix("ies").removesuffix("y")  # singular or plural
    assert stem in done["err"]


def test_every_make_target_exists():
    for one in TARGETS:
        done = subprocess.run(
            ["/usr/bin/env", "make", "--dry-run", *one.arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (str(one), done.stderr)


def test_every_command_that_is_not_run_here_has_its_own_test():
    for one in TARGETS:
        assert f"make {one.arguments[0]}" in RUN_ELSEWHERE, one
    for name in (*RUN_ELSEWHERE.values(), *TESTED_AS_A_WHOLE.values()):
        assert (ROOT / "tests" / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_only_existing_commands_and_targets(page):
    text = page.read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    assert set(re.findall(r"manage\.py ([a-z]\w+)", text)) <= set(get_commands())
    assert set(re.findall(r"[`$] ?make ([a-z]\w*)", text)) <= set(targets)


def test_every_command_is_documented():
    pages = "".join(page.read_text() for page in PAGES)
    ours = {name for name, app in get_commands().items() if app in ("audit", "drill", "verdicts")}
    assert {name for name in ours if name not in pages} == set()
