"""`make screenshots`: the pictures in docs/images, of a live site with a sandbox."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from drill.sites.live_site import LiveSite, live_site
from tests.support.browser import find_or_install_browser, open_browser
from tests.support.console_screenshots import take_console
from tests.support.customers import Customers
from tests.support.file_sizes import ROOT
from tests.support.staff_auth_screenshots import take_staff_auth
from tests.support.visitor import DESKTOP, Visitor

FOLDER = ROOT / "docs" / "images"
PHONE = 390  # pixels, the width of most phones
# Queries end with a number that tells test orders apart.
HIDE_NUMBER = """() => {
  for (const one of document.querySelectorAll("blockquote"))
    one.textContent = one.textContent.replace(/ [(][0-9]+[)]$/, "");
}"""


def main() -> None:
    path = find_or_install_browser()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for take in (take_customers, take_console, take_staff_auth):  # each on a site of its own
        with (
            tempfile.TemporaryDirectory(prefix="oracle-screenshots-") as folder,
            live_site(Path(folder)) as site,
            open_browser(path) as browser,
        ):
            take(site, browser)
    for picture in sorted(FOLDER.glob("*.png")):
        print(f"{picture.stat().st_size // 1000:>5} KB  {picture.relative_to(ROOT)}")


def take_customers(site: LiveSite, browser: Browser) -> None:
    customers = Customers(site)
    visitor = Visitor(browser, site.url, also=site.sandbox.url)
    waiting = customers.buy("full", fault="slow", seconds=50)
    save(visitor.open(), "landing", height=900)
    save(visitor.open(scheme="dark"), "landing-dark", height=900)
    save(visitor.result(waiting), "progress", height=780)
    sessions = {label: customers.verdict("full", label) for label in ("GREEN", "RED", "NULL")}
    sessions["AMBER"] = customers.verdict("strategy", "AMBER")
    for label, session in sessions.items():
        customers.settled(session)
        save(visitor.result(session), f"verdict-{label.lower()}", height=1050)
    amber = sessions["AMBER"]
    save(visitor.result(amber, width=PHONE), "phone", height=844)
    save(visitor.result(amber, width=PHONE, scheme="dark"), "phone-dark", height=844)
    save(visitor.open(width=PHONE, scheme="dark"), "phone-landing", height=844)
    differs = customers.regenerated("full", "GREEN", "RED")
    save(visitor.result(differs), "disclaimer", height=760)
    (email,) = site.wait_for_mail(f"customer{customers.number_of(amber)}@example.com")
    message = visitor.open("about:blank", width=700)
    message.set_content(email["html"])
    save(message, "email", height=900)
    printed = visitor.result(amber)
    printed.emulate_media(media="print")
    printed.set_viewport_size({"width": 760, "height": 1075})
    printed.evaluate("document.body.style.margin = '40px'")  # in place of the paper's margins
    save(printed, "print", height=1075)
    visitor.leave()


def save(page: Page, name: str, *, height: int) -> None:
    width = (page.viewport_size or {"width": DESKTOP})["width"]
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(HIDE_NUMBER)
    page.evaluate("document.fonts.ready.then(() => true)")
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


if __name__ == "__main__":
    main()
