"""The landing page in a real browser: accessible, and usable by keyboard and without scripts."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.visitor import PHONE, assert_accessible, assert_nothing_inline

PAY_BUTTON = re.compile("^Pay CA")


def test_the_landing_page_is_accessible(visitor):
    page = visitor.open()
    assert page.locator("h1").count() == 1
    assert_nothing_inline(page)
    assert_accessible(page)


def test_errors_are_at_their_fields_and_the_first_has_the_focus(visitor):
    page = visitor.open()
    page.fill("#email", "nobody")
    page.get_by_role("button").click()
    query, email = page.locator("#query"), page.locator("#email")
    expect(query).to_be_focused()
    for field, words in ((query, "Describe the idea"), (email, "Enter a valid email address")):
        assert field.get_attribute("aria-invalid") == "true"
        described_by = field.get_attribute("aria-describedby").split()
        assert any(words in page.locator(f"#{one}").inner_text() for one in described_by)
    assert page.title().startswith("Please check your order")
    expect(email).to_have_value("nobody")
    assert_accessible(page)


def test_characters_are_counted_as_the_server_counts_them(visitor):
    page = visitor.open()
    count = page.locator("#query-limit")
    expect(count).to_have_text("0 of 4,000 characters.")
    page.fill("#query", "A bakery 🥖")
    expect(count).to_have_text("10 of 4,000 characters.")
    page.fill("#query", "x" * 4_002)
    expect(count).to_have_text("4,002 of 4,000 characters: 2 too many.")
    expect(page.locator("#query-announcement")).to_have_text(
        re.compile("2 too many")
    )  # for screen readers


def test_the_button_shows_the_price(visitor):
    page = visitor.open()
    button = page.get_by_role("button")
    expect(button).to_have_text("Continue to payment · CA$5.00")
    page.get_by_role("radio", name="Strategy Session").check()
    expect(button).to_have_text("Continue to payment · CA$15.00")


def test_from_the_landing_page_to_the_verdict_with_the_keyboard_alone(visitor):
    page = visitor.open()
    tab_to(page, "Quick Take, Full Breakdown or Strategy Session", "[name=tier]")
    page.keyboard.press("ArrowDown")  # from Full Breakdown to Strategy Session
    tab_to(page, "the idea", "#query")
    page.keyboard.type("A ferry for bicycles.")
    tab_to(page, "the email address", "#email")
    page.keyboard.type("keyboard@example.com")
    tab_to(page, "the button", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=PAY_BUTTON)).to_be_visible()
    tab_to(page, "the payment", "button", visible=False)
    page.keyboard.press("Enter")
    expect(page.locator(".band h1")).to_be_visible()
    assert page.locator(".meta").inner_text().startswith("Strategy Session")
    tab_to(page, "the support address", "footer a")


@pytest.mark.parametrize("tier", ["Quick Take", "Full Breakdown", "Strategy Session"])
def test_without_scripts_an_order_reaches_its_verdict(visitor, tier):
    page = visitor.open(script=False, width=PHONE)
    page.get_by_role("radio", name=re.compile(f"^{tier}")).check()
    page.fill("#query", "A library of tools.")
    page.fill("#email", "no-script@example.com")
    page.get_by_role("button").click()
    page.get_by_role("button", name=PAY_BUTTON).click()
    expect(page.locator(".band h1")).to_be_visible()  # after the page refreshed itself
    assert page.locator(".meta").inner_text().startswith(tier)


def tab_to(page: Page, what: str, selector: str, *, visible: bool = True) -> None:
    """Press Tab until it has the focus; on our pages every focus must be visible."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if visible:
            assert page.evaluate(HAS_VISIBLE_FOCUS), f"the focus is invisible on the way to {what}"
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the keyboard does not reach {what}")


HAS_VISIBLE_FOCUS = """() => {
  const shown = document.activeElement.closest(".offer") || document.activeElement;
  const style = getComputedStyle(shown);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""
