"""Getting into the console in a real browser: the second factor from end to end, and the lock."""

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
from tests.support.staff_auth_screenshots import give, try_to_log_in
from tests.support.visitor import assert_for_everybody


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    with live_site(tmp_path_factory.mktemp("door")) as running:
        command = [sys.executable, "-m", "tests.support.console_staff", "ada=Reviewer", "bob="]
        subprocess.run(command, cwd=ROOT, env=child_env(**running.variables), check=True)
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    problems: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: "127.0.0.1" in asked.url or problems.append(asked.url))
    page.on(
        "console",
        lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None,
    )
    yield page
    context.close()
    assert problems == []  # no script failed, and nothing came from elsewhere


def test_a_second_factor_from_setting_up_to_a_spare_code(site, page):
    log_in(page, site.url, "ada", "adaada")
    page.get_by_text("ada", exact=True).first.click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Set it up").click()
    expect(page.locator(".c-qr svg")).to_be_visible()
    assert_for_everybody(page)
    key = base64.b32decode(page.locator("code").first.inner_text().replace(" ", ""))
    give(page, f"{totp(key):06}", "Turn it on")
    expect(page.locator(".c-codes code")).to_have_count(10)
    spare = page.locator(".c-codes code").all_inner_texts()
    assert_for_everybody(page)
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("heading", name="Needs a person now")).to_be_visible()

    page.context.clear_cookies()
    page.goto(f"{site.url}/admin/login/?next=/admin/verdicts/order/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("adaada")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("textbox", name="Code")).to_be_visible()
    assert_for_everybody(page)
    give(page, "not a code", "Go on")
    expect(page.get_by_text("does not fit")).to_be_visible()
    page.wait_for_timeout(1200)  # the pause that a wrong one costs
    give(page, spare[0], "Go on")
    page.wait_for_url("**/admin/verdicts/order/")


def test_after_five_wrong_passwords_a_page_says_what_to_do(site, page):
    for _ in range(5):
        try_to_log_in(page, site.url, "bob", "wrong")
    expect(page.get_by_text("Nothing more is tried for 15 minutes")).to_be_visible()
    assert_for_everybody(page)
    page.get_by_role("link", name="log in").click()
    expect(page.get_by_label("Password")).to_be_visible()
