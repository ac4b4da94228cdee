"""Logging in to the console in a browser."""

from playwright.sync_api import Page


def log_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/admin/login/?next=/admin/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/admin/")
