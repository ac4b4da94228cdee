"""Hostile answers in a real browser: no dialog, no new element, nothing from elsewhere."""

import subprocess
import sys

import pytest
from playwright.sync_api import Page

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT
from tests.support.console_browser import log_in
from tests.support.hostile import CORPUS, HARMLESS, SLOTS, verdict_of

BITES = [one for one in CORPUS if one.kind in ("markup", "template", "bidi")] + [
    one for one in CORPUS if one.name in ("a script as an address", "Markdown")
]
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
COUNT = "() => [...document.querySelectorAll('*')].map((one) => one.tagName).sort().join()"


@pytest.fixture(scope="module")
def session(customers) -> str:
    command = [sys.executable, "-m", "tests.support.console_staff", "hilda=Reviewer"]
    subprocess.run(command, cwd=ROOT, env=child_env(**customers.site.variables), check=True)
    bought = customers.verdict("strategy")
    customers.settled(bought)
    return bought


HANDFULS = [BITES[start : start + SLOTS] for start in range(0, len(BITES), SLOTS)]


def put(customers, session: str, *texts: str) -> None:
    """As if the model had written it: gated, stored and cached by the services' interface."""
    site = customers.site
    # One regeneration has one text: another takes its place only once it is gone.
    customers.shell(
        "from verdicts.models import CachedVerdict\n"
        f"CachedVerdict.objects.filter(session_id={session!r}).delete()"
    )
    body = {"tier": "strategy", "verdict": verdict_of(*texts)}
    answer = site.http.post(f"/cache/{session}", json=body, headers=TOKEN)
    assert answer.status_code == 201, answer.text


def alerts(page: Page) -> list[str]:
    """The dialogs that will have been opened."""
    seen: list[str] = []
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    return seen


def test_a_hostile_answer_is_read_and_does_nothing(visitor, customers, session):
    elements = set()
    for texts in ([HARMLESS], *([entry.text for entry in one] for one in HANDFULS)):
        put(customers, session, *texts)
        page = visitor.result(session)
        seen = alerts(page)
        page.reload()
        assert page.locator(".summary").count() == 1
        customers.settled(session)
        page.reload()
        page.locator("body").click(position={"x": 5, "y": 5})
        elements.add(page.evaluate(COUNT))
        assert seen == []
        page.close()
    assert len(elements) == 1


def test_nor_does_it_in_the_console(visitor, customers, session):
    for handful in HANDFULS:
        put(customers, session, *(entry.text for entry in handful))
    page = visitor.open("/admin/login/")
    log_in(page, visitor.url, "hilda", "hildahilda")
    seen = alerts(page)
    numbers = "from verdicts.models import *; print(*Verdict.objects.values_list('pk', flat=True))"
    found = customers.site.manage("shell", "-v0", "-c", numbers).split()
    for number in found[-len(HANDFULS) :]:
        page.goto(f"{visitor.url}/admin/verdicts/verdict/{number}/change/")
    page.goto(f"{visitor.url}/admin/verdicts/order/")
    page.goto(f"{visitor.url}/admin/audit/divergenceevent/")
    assert seen == []
