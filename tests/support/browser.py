"""A Chromium to test with: the machine's, else Playwright's own, else Debian's package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Nothing that talks to anybody but the page.
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSTALL_TIMEOUT = 600  # seconds for one way of getting a browser


class BrowserMissing(Exception):
    """There is no browser to be had here."""


def find_browser() -> str:
    """One that is here already and starts. Raises BrowserMissing."""
    if not _succeeds(sys.executable, "-m", "playwright", "--version"):
        raise BrowserMissing("Playwright does not start; its driver needs libatomic1")
    for name in NAMES:
        path = shutil.which(name)
        # Some systems have a stub of this name that only says where to get it.
        if path and _succeeds(path, "--version"):
            return path
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    if own.exists():
        return str(own)
    raise BrowserMissing("no Chromium on this machine")


def bring_browser() -> str:
    """One that is here, or can be brought here. Raises BrowserMissing."""
    ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        ways.append(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    reason = ""
    for way in ([], *ways):
        if way and not _succeeds(*way):
            continue
        try:
            return find_browser()
        except BrowserMissing as error:
            reason = str(error)
    raise BrowserMissing(f"{reason}; none could be installed")


def _succeeds(*command: str) -> bool:
    try:
        run = subprocess.run(command, capture_output=True, timeout=INSTALL_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


@contextmanager
def open_browser(path: str) -> Iterator[Browser]:
    """While it is open, Django's ORM takes this thread for an asynchronous one, and refuses."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, chromium_sandbox=False
        )
        yield browser
        browser.close()
