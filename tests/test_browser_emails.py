"""Emails in a browser, as a mail client shows them: light and dark, phone and desktop."""

import re

import pytest

from tests.support.visitor import assert_accessible
from verdicts.core.disclaimer import NOTE

pytestmark = pytest.mark.slow

# Rules of axe for whole pages, which an email is not.
NO_PAGE_RULES = {name: {"enabled": False} for name in ("region", "landmark-one-main")}


@pytest.fixture(scope="module")
def emails(customers) -> dict[str, dict]:
    """One email of each kind that customers get, and one to staff."""
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
def test_an_email_is_accessible_in_light_and_dark(visitor, emails, kind):
    page = visitor.open("about:blank", script=True)
    page.set_content(emails[kind]["html"])
    assert page.locator("h1").count() == 1
    assert_accessible(page, rules=NO_PAGE_RULES)


@pytest.mark.parametrize("kind", KINDS)
def test_an_email_loads_nothing_and_has_no_tracking(emails, customers, kind):
    html = emails[kind]["html"]
    assert not re.search(r"<img|<script|<link|url\(|@import|src=", html)
    links = re.findall(r'href="([^"]+)"', html)
    allowed = (f"{customers.site.url}/oracle/result?", f"{customers.site.url}/admin/", "mailto:")
    assert all(link.startswith(allowed) for link in links)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "staff"])
def test_text_and_html_have_the_same_words_and_link(visitor, emails, kind):
    message = emails[kind]
    page = visitor.open("about:blank")
    page.set_content(message["html"])
    in_html = words(page.locator("body").inner_text())
    in_text = words(re.sub(r"http\S+|Your result page:", "", message["text"]))
    assert in_text <= in_html
    (address,) = re.findall(r"http\S+/oracle/result\S+", message["text"])
    assert page.locator("a").first.get_attribute("href") == address
    assert "oracle@42sisters.ai" in message["text"]


def test_the_divergence_email_has_the_required_note(emails):
    assert NOTE in emails["divergence"]["text"]
    assert NOTE in emails["divergence"]["html"]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", text))
