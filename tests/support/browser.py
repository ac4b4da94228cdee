"""Finds or installs a Chromium: the system's, Playwright's own, or Debian's package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# No network traffic besides the page's own.
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSTALL_TIMEOUT = 600  # seconds, per installer


class BrowserMissing(Exception):
    """No browser is installed, or none could be."""


def find_browser() -> str:
    """The path of an installed browser that starts. Raises BrowserMissing."""
    if not _succeeds(sys.executable, "-m", "playwright", "--version"):
        raise BrowserMissing("Playwright does not start; its driver needs libatomic1")
    for name in NAMES:
        path = shutil.which(name)
        # Some systems have a stub of this name that only says how to install it.
        if path and _succeeds(path, "--version"):
            return path
    with sync_playwright() as playwright:
        bundled = Path(playwright.chromium.executable_path)
    if bundled.exists():
        return str(bundled)
    raise BrowserMissing("no Chromium on this machine")


def find_or_install_browser() -> str:
    """The path of a browser, installed if necessary. Raises BrowserMissing."""
    installers = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        installers.append(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    reason = ""
    for installer in ([], *installers):
        if installer and not _succeeds(*installer):
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
    """While it is open, Django's ORM refuses to run in this thread: it looks asynchronous."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, chromium_sandbox=False
        )
        yield browser
        browser.close()
