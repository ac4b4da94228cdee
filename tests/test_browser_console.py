"""The console in a real browser: a reviewer's work on a case, and the same without permission."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from drill.sites.child_env import child_env
from drill.sites.live_site import ROOT, LiveSite, live_site
from tests.support.console_browser import log_in

BUYER = "buyer@example.com"
OTHER = "other@example.com"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    with live_site(tmp_path_factory.mktemp("console")) as running:
        accounts = ("ada=Reviewer", "otto=Operator", "nell=")
        command = [sys.executable, "-m", "tests.support.console_staff", *accounts]
        subprocess.run(command, cwd=ROOT, env=child_env(**running.variables), check=True)
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    problems: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None,
    )
    page.on(
        "request",
        lambda request: (
            "127.0.0.1" in request.url
            or request.url.startswith("data:")
            or problems.append(request.url)
        ),
    )
    yield page
    context.close()
    assert problems == []  # no script error, and nothing loaded from another site


def rejected(site: LiveSite, email: str) -> str:
    site.sandbox.fault("gemini", "contradictory")
    session = site.buy("full", "Should the mill grind at night?", email)
    site.wait_for_mail(email)
    return session


def test_a_reviewer_claims_and_refunds_a_case(site, page):
    session = rejected(site, BUYER)
    log_in(page, site.url, "ada", "adaada")
    expect(page.get_by_role("heading", name="Open cases")).to_be_visible()

    page.get_by_role("link", name="Rejected by the gate").click()
    expect(page.locator("#result_list")).to_contain_text("Case 1")
    page.keyboard.press("n")  # opens the oldest
    expect(page.locator(".c-formula")).to_contain_text("C = 1 −")
    expect(page.locator(".c-lines")).to_contain_text("most dimensions are RED")
    expect(page.locator("#resolve")).not_to_contain_text("Authorize")
    case = page.url

    page.keyboard.press("c")
    expect(page.get_by_text("Claimed by you until")).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.type("The model contradicts itself. cnr")  # no shortcuts while typing
    page.get_by_role("button", name="Refund").click()
    expect(page.locator("main, #content")).to_contain_text("5.00 CAD")
    page.get_by_role("button", name="Refund").click()
    expect(page.get_by_text("Case 1: refunded.")).to_be_visible()
    page.reload()  # repeats nothing
    expect(page.locator("#result_list")).to_have_count(0)

    page.goto(case)
    expect(page.locator("#resolve")).to_contain_text("The model contradicts itself. cnr")
    mail = site.wait_for_mail(BUYER, 2)[-1]
    assert mail["subject"].endswith("refunded")
    assert "refunded" in site.result(session).text.lower()
    refunds = [one for one in site.sandbox.requests("stripe") if one["path"].endswith("/refunds")]
    assert len(refunds) == 1


def test_without_permission_every_step_is_refused(site, page):
    rejected(site, OTHER)
    log_in(page, site.url, "otto", "ottootto")
    page.goto(f"{site.url}/admin/verdicts/case/next/")
    expect(page.locator("#resolve")).to_contain_text(
        "You do not have the permission to decide cases."
    )
    expect(page.locator("body")).not_to_contain_text(OTHER)
    expect(page.locator("body")).not_to_contain_text("grind at night")
    expect(page.locator("#output ~ p")).to_contain_text("Hidden")
    case = page.url
    for verb in ("claim", "leave", "resolve"):
        answer = page.evaluate(
            """async (address) => {
                const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
                const body = new URLSearchParams({
                    csrfmiddlewaretoken: token, outcome: "refunded", note: "x", confirmed: "1",
                });
                return (await fetch(address, {method: "POST", body})).status;
            }""",
            case.replace("/change/", f"/{verb}/"),
        )
        assert answer == 403
    assert site.sandbox.messages(to=OTHER)[-1]["subject"].endswith("held back")

    page.context.clear_cookies()
    log_in(page, site.url, "nell", "nellnell")
    expect(page.locator("body")).to_contain_text("your account is in no group yet")
    assert page.goto(case).status == 403
    page.context.clear_cookies()
    page.goto(case)
    expect(page.get_by_role("button", name="Log in")).to_be_visible()


def test_the_chart_of_the_residual_rate_is_accessible(site, page):
    """Checks our part of the page, without the theme's header and sidebar."""
    log_in(page, site.url, "otto", "ottootto")
    address = f"{site.url}/admin/audit/determinismprobe/"
    page.goto(address)
    expect(page.locator(".c-page")).to_contain_text("No probes yet.")
    site.manage("probe_determinism", "--tier", "full", "-n", "3")
    site.manage("probe_determinism", "--tier", "full", "-n", "4")
    page.goto(address)
    expect(page.locator(".c-page svg[role=img]")).to_have_count(1)
    expect(page.locator(".c-page")).to_contain_text("Fewer than 20 compared")
    page.get_by_text("Table", exact=True).click()
    expect(page.locator(".c-details tbody tr")).to_have_count(2)
    for scheme in ("light", "dark"):
        choose = "scheme => localStorage.setItem('_x_adminTheme', JSON.stringify(scheme))"
        page.evaluate(choose, scheme)
        page.reload()
        page.evaluate(AXE_SCRIPT)
        inside = {"include": [[".c-page"], [".c-tools"]]}
        found = page.evaluate("inside => axe.run(inside).then((r) => r.violations)", inside)
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], scheme


def test_password_change_logout_and_login(site, page):
    log_in(page, site.url, "ada", "adaada")
    page.goto(f"{site.url}/admin/password_change/")
    page.locator("#id_old_password").fill("adaada")
    page.locator("#id_new_password1").fill("a-longer-phrase-7")
    page.locator("#id_new_password2").fill("a-longer-phrase-7")
    page.get_by_role("button", name="Change password").click()
    page.wait_for_url("**/password_change/done/")
    page.goto(f"{site.url}/admin/")
    page.get_by_text("ada", exact=True).first.click()
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("body")).to_contain_text("Log")
    log_in(page, site.url, "ada", "a-longer-phrase-7")
