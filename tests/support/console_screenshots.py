"""The console's pages, light and dark: the other half of `make screenshots`."""

import subprocess
import sys

from playwright.sync_api import Browser, Page

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT, LiveSite
from tests.support.console_browser import log_in

FOLDER = ROOT / "docs" / "images"
IDEAS = {
    "contradictory": ("full", "Should we move the bakery's night shift to solar ovens?"),
    "missing_field": ("strategy", "A subscription for repaired umbrellas, delivered by bicycle."),
    "malformed": ("quick", "Is a chess café on a ferry a good idea?"),
    "bad_request": ("full", "Sell our weather data to vineyards?"),
}


def staff(site: LiveSite, *arguments: str) -> None:
    command = [sys.executable, "-m", "tests.support.console_staff", *arguments]
    subprocess.run(command, cwd=ROOT, env=child_env(**site.variables), check=True)


def stock(site: LiveSite) -> None:
    """Something of everything: delivered, diverged, held back, failed."""
    staff(site, "history", "compared", "probes", "grace=NOUS", "ada=Reviewer")
    site.sandbox.fault("gemini", "verdict", label="GREEN")
    session = site.buy("full", "Open a second bookshop by the station?", "reader@example.com")
    site.wait_for_mail("reader@example.com")
    site.manage("evict", session, "--reason", "for the picture")
    site.sandbox.fault("gemini", "verdict", label="RED")
    site.result(session)
    site.wait_for_mail("reader@example.com", 2)
    for number, (fault, (tier, query)) in enumerate(IDEAS.items()):
        site.sandbox.fault("gemini", fault)
        site.buy(tier, query, f"buyer{number}@example.com")
        site.wait_for_mail(f"buyer{number}@example.com")
    staff(site, "age")


def take(site: LiveSite, browser: Browser, scheme: str) -> None:
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 1440, "height": 900}, device_scale_factor=1
    )
    page = context.new_page()
    log_in(page, site.url, "grace", "gracegrace")
    page.evaluate("scheme => localStorage.setItem('_x_adminTheme', JSON.stringify(scheme))", scheme)

    def shoot(name: str, address: str, *, whole: bool = True) -> None:
        page.goto(f"{site.url}/admin/{address}")
        page.wait_for_load_state("networkidle")
        height = page.evaluate("document.documentElement.scrollHeight") if whole else 0
        page.set_viewport_size({"width": 1440, "height": max(900, height)})
        page.screenshot(path=FOLDER / f"console-{name}-{scheme}.png")
        page.set_viewport_size({"width": 1440, "height": 900})

    shoot("home", "?days=30")
    shoot("queue", "verdicts/case/")
    page.goto(f"{site.url}/admin/verdicts/case/?kind__exact=rejected")
    shoot("case", link(page, 0))
    page.goto(f"{site.url}/admin/audit/divergenceevent/?level__exact=significant")
    shoot("divergence", link(page, 0))
    shoot("order", "verdicts/order/1/change/")
    shoot("probes", "audit/determinismprobe/", whole=False)  # the list below is like any other
    context.close()


def link(page: Page, row: int) -> str:
    """Where a row of the list leads to, below /admin/."""
    address = page.locator("#result_list a[href*='/change/']").nth(row).get_attribute("href")
    return address.split("/admin/")[1]


def take_console(site: LiveSite, browser: Browser) -> None:
    stock(site)
    for scheme in ("light", "dark"):
        take(site, browser, scheme)
