"""Emails as a mail program shows them: images off, light and dark, phone and desk."""

import re

import pytest

from tests.support.visitor import assert_for_everybody
from verdicts.core.disclaimer import NOTE

pytestmark = pytest.mark.slow

# What axe asks of a page, and a letter is none.
NO_PAGE = {name: {"enabled": False} for name in ("region", "landmark-one-main")}


@pytest.fixture(scope="module")
def letters(customers) -> dict[str, dict]:
    """One of each kind that a customer gets, and one to staff."""
    sandbox = customers.site.sandbox
    bought = customers.verdict("strategy", "AMBER")
    held = customers.buy("full", fault="contradictory")
    moved = customers.regenerated("full", "GREEN", "RED")
    back = customers.verdict("quick", "NULL")
    customers.settled(back)
    sandbox.refund(back)

    def mail(session: str, number: int = 0) -> dict:
        to = f"customer{customers.number_of(session)}@example.com"
        return customers.site.wait_for_mail(to, number + 1)[number]

    return {
        "verdict": mail(bought),
        "verdict NULL": mail(back),
        "held back": mail(held),
        "divergence": mail(moved, 1),
        "refund": mail(back, 1),
        "staff": customers.site.wait_for_mail("staff@oracle.example")[0],
    }


KINDS = ["verdict", "verdict NULL", "held back", "divergence", "refund", "staff"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_letter_reads_well_in_every_light(visitor, letters, kind):
    page = visitor.open("about:blank", script=True)
    page.set_content(letters[kind]["html"])
    assert page.locator("h1").count() == 1
    assert_for_everybody(page, rules=NO_PAGE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_letter_loads_nothing_and_tracks_nobody(letters, customers, kind):
    html = letters[kind]["html"]
    assert not re.search(r"<img|<script|<link|url\(|@import|src=", html)
    links = re.findall(r'href="([^"]+)"', html)
    allowed = (f"{customers.site.url}/oracle/result?", f"{customers.site.url}/admin/", "mailto:")
    assert all(link.startswith(allowed) for link in links)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "staff"])
def test_text_and_html_say_the_same_and_lead_to_the_page(visitor, letters, kind):
    letter = letters[kind]
    page = visitor.open("about:blank")
    page.set_content(letter["html"])
    shown = words(page.locator("body").inner_text())
    told = words(re.sub(r"http\S+|Your result page:", "", letter["text"]))
    assert told <= shown
    (address,) = re.findall(r"http\S+/oracle/result\S+", letter["text"])
    assert page.locator("a").first.get_attribute("href") == address
    assert "oracle@42sisters.ai" in letter["text"]


def test_the_notice_carries_the_documents_note(letters):
    assert NOTE in letters["divergence"]["text"]
    assert NOTE in letters["divergence"]["html"]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", text))
