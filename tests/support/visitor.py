"""A browser session on the site, and the checks that every page has to pass."""

from typing import Literal
from urllib.parse import urlencode

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, expect

TIMEOUT_MS = 15_000
expect.set_options(timeout=TIMEOUT_MS)
PHONE, DESKTOP = 360, 1280
HEIGHT = 800
Scheme = Literal["light", "dark"]
# Chromium logs an error for every 4xx and 5xx, which some of our pages are on purpose.
STATUS_ERROR = "the server responded with a status of"


class Visitor:
    def __init__(self, browser: Browser, url: str, *, also: str) -> None:
        self._browser = browser
        self._contexts: dict[tuple[int, str, bool], BrowserContext] = {}
        self._allowed = (url, f"blob:{url}", also, "about:")
        self.url = url
        self.requested: list[str] = []
        self.errors: list[str] = []

    def open(
        self,
        path: str = "/",
        *,
        width: int = DESKTOP,
        scheme: Scheme = "light",
        script: bool = True,
    ) -> Page:
        page = self._context(width, scheme, script).new_page()
        page.on("pageerror", lambda error: self._record("error", str(error)))
        page.goto(f"{self.url}{path}" if path.startswith("/") else path)
        return page

    def _context(self, width: int, scheme: Scheme, script: bool) -> BrowserContext:
        """One context per setting, so that its cache is shared between pages."""
        existing = self._contexts.get((width, scheme, script))
        if existing:
            return existing
        context = self._browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        context.set_default_timeout(TIMEOUT_MS)
        context.on("request", lambda request: self.requested.append(request.url))
        context.on("console", lambda line: self._record(line.type, line.text))
        self._contexts[width, scheme, script] = context
        return context

    def result(self, session_id: str, **how: object) -> Page:
        return self.open(f"/oracle/result?{urlencode({'session_id': session_id})}", **how)

    def leave(self) -> None:
        """Close all pages; fail if one had an error or requested anything from another site."""
        for context in self._contexts.values():
            for page in context.pages:
                page.close()
        errors, requested = self.errors, self.requested
        self.errors, self.requested = [], []
        assert errors == []
        assert [url for url in requested if not url.startswith(self._allowed)] == []

    def _record(self, kind: str, text: str) -> None:
        if kind == "error" and STATUS_ERROR not in text:
            self.errors.append(text)


def assert_accessible(page: Page, *, rules: dict[str, object] | None = None) -> None:
    """No violation of axe's rules, in light and dark, phone and desktop; no sideways scrolling."""
    page.evaluate(AXE_SCRIPT)
    for width in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            options = {"resultTypes": ["violations"], "rules": rules or {}}
            found = page.evaluate("options => axe.run(options).then((r) => r.violations)", options)
            failures = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
            assert failures == [], f"{width} {scheme}: {failures}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def assert_nothing_inline(page: Page) -> None:
    """No inline script or style: the content security policy blocks both."""
    assert page.locator("[style], style, script:not([src])").count() == 0
