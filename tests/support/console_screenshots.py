"""Screenshots of the console, light and dark: a part of `make screenshots`."""

import subprocess
import sys

from playwright.sync_api import Browser, Page

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT, LiveSite
from tests.support.console_browser import log_in

FOLDER = ROOT / "docs" / "images"
QUERIES = {
    "contradictory": ("full", "Should we move the bakery's night shift to solar ovens?"),
    "missing_field": ("strategy", "A subscription for repaired umbrellas, delivered by bicycle."),
    "malformed": ("quick", "Is a chess café on a ferry a good idea?"),
    "bad_request": ("full", "Sell our weather data to vineyards?"),
}


def run_console_staff(site: LiveSite, *arguments: str) -> None:
    command = [sys.executable, "-m", "tests.support.console_staff", *arguments]
    subprocess.run(command, cwd=ROOT, env=child_env(**site.variables), check=True)


def create_records(site: LiveSite) -> None:
    """Orders of each kind: delivered, diverged, rejected, failed."""
    run_console_staff(site, "history", "compared", "probes", "grace=NOUS", "ada=Reviewer")
    site.sandbox.fault("gemini", "verdict", label="GREEN")
    session = site.buy("full", "Open a second bookshop by the station?", "reader@example.com")
    site.wait_for_mail("reader@example.com")
    site.manage("evict", session, "--reason", "for the screenshot")
    site.sandbox.fault("gemini", "verdict", label="RED")
    site.result(session)
    site.wait_for_mail("reader@example.com", 2)
    for number, (fault, (tier, query)) in enumerate(QUERIES.items()):
        site.sandbox.fault("gemini", fault)
        site.buy(tier, query, f"buyer{number}@example.com")
        site.wait_for_mail(f"buyer{number}@example.com")
    run_console_staff(site, "age")


def take_scheme(site: LiveSite, browser: Browser, scheme: str) -> None:
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": 1440, "height": 900}, device_scale_factor=1
    )
    page = context.new_page()
    log_in(page, site.url, "grace", "gracegrace")
    page.evaluate("scheme => localStorage.setItem('_x_adminTheme', JSON.stringify(scheme))", scheme)

    def save(name: str, address: str, *, full_page: bool = True) -> None:
        page.goto(f"{site.url}/admin/{address}")
        page.wait_for_load_state("networkidle")
        height = page.evaluate("document.documentElement.scrollHeight") if full_page else 0
        page.set_viewport_size({"width": 1440, "height": max(900, height)})
        page.screenshot(path=FOLDER / f"console-{name}-{scheme}.png")
        page.set_viewport_size({"width": 1440, "height": 900})

    save("home", "?days=30")
    save("queue", "verdicts/case/")
    page.goto(f"{site.url}/admin/verdicts/case/?kind__exact=rejected")
    save("case", first_link(page))
    page.goto(f"{site.url}/admin/audit/divergenceevent/?level__exact=significant")
    save("divergence", first_link(page))
    save("order", "verdicts/order/1/change/")
    save("probes", "audit/determinismprobe/", full_page=False)  # without the list below the charts
    context.close()


def first_link(page: Page) -> str:
    """Where the first row of the list leads, below /admin/."""
    address = page.locator("#result_list a[href*='/change/']").first.get_attribute("href")
    return address.split("/admin/")[1]


def take_console(site: LiveSite, browser: Browser) -> None:
    create_records(site)
    for scheme in ("light", "dark"):
        take_scheme(site, browser, scheme)
