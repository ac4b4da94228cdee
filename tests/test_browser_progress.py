"""After the payment: the page moves on by itself, says so, and nobody has to keep it open."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.visitor import assert_for_everybody

STAY = "window.stayed = true"  # gone, if the page were loaded again


def test_the_page_moves_from_judging_to_the_verdict_without_a_reload(visitor, customers):
    session = customers.buy("full", fault="slow", seconds=4)
    page = visitor.result(session)
    now = page.locator("[aria-current=step]")
    expect(now).to_contain_text("Judging")
    page.evaluate(STAY)
    page.get_by_role("link", name="oracle@42sisters.ai").first.focus()
    expect(page.locator(".band h1")).to_be_visible()
    assert page.evaluate("window.stayed")
    label = page.locator(".band h1").inner_text()
    assert page.title() == f"{label} - Oracle"
    expect(page.locator("#said")).to_contain_text(f"Your verdict: {label}.")  # read out
    assert page.evaluate("document.activeElement.matches('h1')")  # not thrown back to the top


@pytest.mark.parametrize("scripts", [True, False])
def test_the_email_is_followed_until_it_is_sent(visitor, customers, scripts):
    session = customers.buy("quick", mail_takes=3)
    customers.wait(session, 200)
    page = visitor.result(session, script=scripts)
    expect(page.locator("[aria-current=step]")).to_contain_text("Sending")
    expect(page.locator(".meta")).to_contain_text("Email on its way")
    expect(page.locator(".meta")).to_contain_text("Same as your email")
    expect(page.locator(".steps")).to_have_count(0)


def test_closing_the_page_loses_nothing(visitor, customers):
    session = customers.buy("quick", fault="slow", seconds=2)
    visitor.result(session).close()
    customers.wait(session, 200)
    page = visitor.result(session)
    expect(page.locator(".band h1")).to_have_text(re.compile("GREEN|AMBER|RED|NULL"))


def test_a_regeneration_is_compared_before_the_readers_eyes(visitor, customers):
    session = customers.verdict("full", "GREEN")
    customers.settled(session)
    customers.miss_all({session: "RED"})
    page = visitor.result(session)
    page.evaluate(STAY)
    # From the first moment on the emailed verdict is named (R12).
    assert "GREEN" in page.locator(".standing").inner_text()
    expect(page.locator(".standing h2")).to_contain_text("your emailed verdict GREEN stands")
    assert page.evaluate("window.stayed")
    assert_for_everybody(page)


def test_a_moment_offline_is_got_over(visitor, customers):
    session = customers.buy("quick", fault="slow", seconds=3)
    page = visitor.result(session)
    expect(page.locator("[aria-current=step]")).to_contain_text("Judging")
    page.context.set_offline(True)
    page.wait_for_timeout(3_000)
    page.context.set_offline(False)
    expect(page.locator(".band h1")).to_be_visible()
    visitor.errors.clear()  # Chromium's own words about being offline
