"""Hostile model output in a real browser: no dialog, no new elements, no external requests."""

import subprocess
import sys

import pytest
from playwright.sync_api import Page

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT
from tests.support.console_browser import log_in
from tests.support.hostile import CORPUS, HARMLESS, SLOTS, verdict_of

BROWSER_CORPUS = [one for one in CORPUS if one.kind in ("markup", "template", "bidi")] + [
    one for one in CORPUS if one.name in ("a script as an address", "Markdown")
]
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
ELEMENTS = "() => [...document.querySelectorAll('*')].map((one) => one.tagName).sort().join()"


@pytest.fixture(scope="module")
def session(customers) -> str:
    command = [sys.executable, "-m", "tests.support.console_staff", "hilda=Reviewer"]
    subprocess.run(command, cwd=ROOT, env=child_env(**customers.site.variables), check=True)
    bought = customers.verdict("strategy")
    customers.settled(bought)
    return bought


BATCHES = [BROWSER_CORPUS[start : start + SLOTS] for start in range(0, len(BROWSER_CORPUS), SLOTS)]


def store_verdict(customers, session: str, *texts: str) -> None:
    """Store and cache a verdict through the cache API, as if the model had written it."""
    site = customers.site
    # The API stores a regeneration only on a cache miss.
    customers.shell(
        "from verdicts.models import CachedVerdict\n"
        f"CachedVerdict.objects.filter(session_id={session!r}).delete()"
    )
    body = {"tier": "strategy", "verdict": verdict_of(*texts)}
    answer = site.http.post(f"/cache/{session}", json=body, headers=TOKEN)
    assert answer.status_code == 201, answer.text


def collect_dialogs(page: Page) -> list[str]:
    """A list to which every dialog's message is added."""
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    return dialogs


def test_hostile_output_is_inert_on_the_result_page(visitor, customers, session):
    elements = set()
    for texts in ([HARMLESS], *([entry.text for entry in one] for one in BATCHES)):
        store_verdict(customers, session, *texts)
        page = visitor.result(session)
        dialogs = collect_dialogs(page)
        page.reload()
        assert page.locator(".summary").count() == 1
        customers.settled(session)
        page.reload()
        page.locator("body").click(position={"x": 5, "y": 5})
        elements.add(page.evaluate(ELEMENTS))
        assert dialogs == []
        page.close()
    assert len(elements) == 1


def test_hostile_output_is_inert_in_the_console(visitor, customers, session):
    for batch in BATCHES:
        store_verdict(customers, session, *(entry.text for entry in batch))
    page = visitor.open("/admin/login/")
    log_in(page, visitor.url, "hilda", "hildahilda")
    dialogs = collect_dialogs(page)
    numbers = "from verdicts.models import *; print(*Verdict.objects.values_list('pk', flat=True))"
    found = customers.site.manage("shell", "-v0", "-c", numbers).split()
    for number in found[-len(BATCHES) :]:
        page.goto(f"{visitor.url}/admin/verdicts/verdict/{number}/change/")
    page.goto(f"{visitor.url}/admin/verdicts/order/")
    page.goto(f"{visitor.url}/admin/audit/divergenceevent/")
    assert dialogs == []
