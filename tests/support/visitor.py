"""Somebody who visits the site with a browser, and what they may never meet there."""

from typing import Literal
from urllib.parse import urlencode

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, expect

TIMEOUT_MS = 15_000  # milliseconds
expect.set_options(timeout=TIMEOUT_MS)
PHONE, DESK = 360, 1280
HEIGHT = 800
Scheme = Literal["light", "dark"]
# Chromium's line for every answer that is not a 2xx; ours are told by status on purpose.
BY_STATUS = "the server responded with a status of"


class Visitor:
    def __init__(self, browser: Browser, url: str, *, also: str) -> None:
        self._browser = browser
        self._contexts: dict[tuple[int, str, bool], BrowserContext] = {}
        self._allowed = (url, f"blob:{url}", also, "about:")
        self.url = url
        self.asked_for: list[str] = []
        self.errors: list[str] = []

    def open(
        self, path: str = "/", *, width: int = DESK, scheme: Scheme = "light", script: bool = True
    ) -> Page:
        page = self._context(width, scheme, script).new_page()
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.goto(f"{self.url}{path}" if path.startswith("/") else path)
        return page

    def _context(self, width: int, scheme: Scheme, script: bool) -> BrowserContext:
        """Kept, as people keep their browser open: what it has loaded it need not load again."""
        kept = self._contexts.get((width, scheme, script))
        if kept:
            return kept
        context = self._browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        context.set_default_timeout(TIMEOUT_MS)
        context.on("request", lambda request: self.asked_for.append(request.url))
        context.on("console", lambda line: self._note(line.type, line.text))
        self._contexts[width, scheme, script] = context
        return context

    def result(self, session_id: str, **how: object) -> Page:
        return self.open(f"/oracle/result?{urlencode({'session_id': session_id})}", **how)

    def leave(self) -> None:
        """Close all pages. Nothing went wrong on them, and nothing came from elsewhere."""
        for context in self._contexts.values():
            for page in context.pages:
                page.close()
        errors, asked_for = self.errors, self.asked_for
        self.errors, self.asked_for = [], []
        assert errors == []
        assert [url for url in asked_for if not url.startswith(self._allowed)] == []

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" and BY_STATUS not in text:
            self.errors.append(text)


def assert_for_everybody(page: Page, *, rules: dict[str, object] | None = None) -> None:
    """No violation of axe's rules, light or dark, on a phone or at a desk, and no side-scroll."""
    page.evaluate(AXE_SCRIPT)
    for width in (DESK, PHONE):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            options = {"resultTypes": ["violations"], "rules": rules or {}}
            found = page.evaluate("options => axe.run(options).then((r) => r.violations)", options)
            told = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
            assert told == [], f"{width} {scheme}: {told}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def assert_nothing_inline(page: Page) -> None:
    """Neither script nor style in the page itself: the policy would refuse both."""
    assert page.locator("[style], style, script:not([src])").count() == 0
