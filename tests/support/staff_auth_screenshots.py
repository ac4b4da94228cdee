"""Screenshots of login and two-factor authentication: a part of `make screenshots`."""

import base64
from pathlib import Path

from django_otp.oath import totp
from playwright.sync_api import Browser, Page

from drill.sites.live_site import LiveSite
from tests.support.console_browser import log_in
from tests.support.console_screenshots import FOLDER, run_console_staff

SIZE = {"width": 720, "height": 820}


def take_staff_auth(
    site: LiveSite, browser: Browser, scheme: str = "light", folder: Path = FOLDER
) -> None:
    run_console_staff(site, "ada=Reviewer")
    context = browser.new_context(color_scheme=scheme, viewport=SIZE, device_scale_factor=1)
    page = context.new_page()

    def save(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"staff-auth-{name}.png")

    page.goto(f"{site.url}/admin/login/")
    save("login")
    log_in(page, site.url, "ada", "adaada")
    page.evaluate("scheme => localStorage.setItem('_x_adminTheme', JSON.stringify(scheme))", scheme)
    page.goto(f"{site.url}/admin/second-factor/set-up/")
    key = base64.b32decode(page.locator("code").first.inner_text().replace(" ", ""))
    save("set-up")
    submit_code(page, f"{totp(key):06}", "Turn it on")
    save("recovery-codes")
    page.goto(f"{site.url}/admin/second-factor/")
    save("manage")
    context.clear_cookies()
    try_to_log_in(page, site.url, "ada", "adaada")
    save("verify")
    context.clear_cookies()
    for _ in range(5):
        try_to_log_in(page, site.url, "eve", "wrong")
    save("locked-out")
    context.close()


def submit_code(page: Page, code: str, button: str) -> None:
    page.get_by_role("textbox", name="Code").fill(code)
    page.get_by_role("button", name=button).click()


def try_to_log_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/admin/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
