"""The result page after the payment: it updates by itself, announces changes, can be closed."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.visitor import assert_accessible

MARK = "window.marked = true"  # lost on a reload


def test_the_page_updates_to_the_verdict_without_a_reload(visitor, customers):
    session = customers.buy("full", fault="slow", seconds=4)
    page = visitor.result(session)
    now = page.locator("[aria-current=step]")
    expect(now).to_contain_text("Judging")
    page.evaluate(MARK)
    page.get_by_role("link", name="oracle@42sisters.ai").first.focus()
    expect(page.locator(".band h1")).to_be_visible()
    assert page.evaluate("window.marked")
    label = page.locator(".band h1").inner_text()
    assert page.title() == f"{label} - Oracle"
    expect(page.locator("#announcement")).to_contain_text(
        f"Your verdict: {label}."
    )  # for screen readers
    assert page.evaluate("document.activeElement.matches('h1')")  # the focus stays in the article


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_updates_until_the_email_is_sent(visitor, customers, scripts):
    session = customers.buy("quick", mail_takes=3)
    customers.wait(session, 200)
    page = visitor.result(session, script=scripts)
    expect(page.locator("[aria-current=step]")).to_contain_text("Sending")
    expect(page.locator(".meta")).to_contain_text("Email on its way")
    expect(page.locator(".meta")).to_contain_text("Same as your email")
    expect(page.locator(".steps")).to_have_count(0)


def test_the_page_can_be_closed(visitor, customers):
    session = customers.buy("quick", fault="slow", seconds=2)
    visitor.result(session).close()
    customers.wait(session, 200)
    page = visitor.result(session)
    expect(page.locator(".band h1")).to_have_text(re.compile("GREEN|AMBER|RED|NULL"))


def test_the_page_updates_when_a_regeneration_is_compared(visitor, customers):
    session = customers.verdict("full", "GREEN")
    customers.settled(session)
    customers.miss_all({session: "RED"})
    page = visitor.result(session)
    page.evaluate(MARK)
    # The emailed verdict is named before the comparison is done (R12).
    assert "GREEN" in page.locator(".email-status").inner_text()
    expect(page.locator(".email-status h2")).to_contain_text("your emailed verdict GREEN stands")
    assert page.evaluate("window.marked")
    assert_accessible(page)


def test_the_page_recovers_from_being_offline(visitor, customers):
    session = customers.buy("quick", fault="slow", seconds=3)
    page = visitor.result(session)
    expect(page.locator("[aria-current=step]")).to_contain_text("Judging")
    page.context.set_offline(True)
    page.wait_for_timeout(3_000)
    page.context.set_offline(False)
    expect(page.locator(".band h1")).to_be_visible()
    visitor.errors.clear()  # Chromium logs an error for each failed request
