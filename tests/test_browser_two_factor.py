"""Two-factor authentication and the login throttle in a real browser, end to end."""

import base64
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django_otp.oath import totp
from playwright.sync_api import Browser, Page, expect

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT, LiveSite, live_site
from tests.support.console_browser import log_in
from tests.support.staff_auth_screenshots import submit_code, try_to_log_in
from tests.support.visitor import assert_accessible


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    with live_site(tmp_path_factory.mktemp("staff-auth")) as running:
        command = [sys.executable, "-m", "tests.support.console_staff", "ada=Reviewer", "bob="]
        subprocess.run(command, cwd=ROOT, env=child_env(**running.variables), check=True)
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    problems: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: "127.0.0.1" in request.url or problems.append(request.url))
    page.on(
        "console",
        lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None,
    )
    yield page
    context.close()
    assert problems == []  # no script error, and nothing loaded from another site


def test_two_factor_from_setup_to_a_recovery_code(site, page):
    log_in(page, site.url, "ada", "adaada")
    page.get_by_text("ada", exact=True).first.click()
    page.get_by_role("link", name="Two-factor authentication").click()
    page.get_by_role("link", name="Set it up").click()
    expect(page.locator(".c-qr svg")).to_be_visible()
    assert_accessible(page)
    key = base64.b32decode(page.locator("code").first.inner_text().replace(" ", ""))
    submit_code(page, f"{totp(key):06}", "Turn it on")
    expect(page.locator(".c-codes code")).to_have_count(10)
    recovery_codes = page.locator(".c-codes code").all_inner_texts()
    assert_accessible(page)
    page.get_by_role("link", name="I have stored them").click()
    expect(page.get_by_role("heading", name="Open cases")).to_be_visible()

    page.context.clear_cookies()
    page.goto(f"{site.url}/admin/login/?next=/admin/verdicts/order/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("adaada")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("textbox", name="Code")).to_be_visible()
    assert_accessible(page)
    submit_code(page, "not a code", "Continue")
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    page.wait_for_timeout(1200)  # the delay after a wrong code
    submit_code(page, recovery_codes[0], "Continue")
    page.wait_for_url("**/admin/verdicts/order/")


def test_the_lockout_page_says_what_to_do(site, page):
    for _ in range(5):
        try_to_log_in(page, site.url, "bob", "wrong")
    expect(page.get_by_text("No login is accepted for 15 minutes")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="log in").click()
    expect(page.get_by_label("Password")).to_be_visible()
