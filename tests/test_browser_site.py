"""Page weight, layout shift, print, content security policy; the admin and the API docs."""

import re

from playwright.sync_api import expect

from tests.support.customers import IDEA
from verdicts.core.prompt import MAX_QUERY

MAX_PAGE_BYTES = 60_000  # a result page with its resources, uncompressed
INITIAL_WINDOW = 14_600  # bytes: TCP's initial congestion window


LAYOUT_SHIFT = """() => new Promise((done) => {
  const sum = (list) => done(list.getEntries().reduce((all, one) => all + one.value, 0));
  new PerformanceObserver(sum).observe({ type: "layout-shift", buffered: true });
  setTimeout(done, 300, 0);
})"""


def test_a_result_page_is_small_and_only_its_stylesheet_blocks(visitor, customers):
    session = customers.verdict("strategy", "AMBER")
    customers.settled(session)
    page = visitor.open("about:blank", scheme="dark")  # with an empty cache
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    page.goto(f"{visitor.url}/oracle/result?session_id={session}", wait_until="networkidle")
    margin = MAX_QUERY - len(IDEA)  # for the longest query
    assert sum(sizes.values()) + margin < MAX_PAGE_BYTES, sizes
    assert sizes[page.url] + margin < INITIAL_WINDOW, sizes
    blocking = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(one => one.renderBlockingStatus === 'blocking').map(one => one.name)"
    )
    assert [name.rpartition("/")[2] for name in blocking] == ["oracle.css"]


def test_a_result_page_has_no_layout_shift(visitor, customers):
    session = customers.verdict("full", "GREEN")
    customers.settled(session)
    page = visitor.result(session)
    page.wait_for_timeout(300)
    shifted = page.evaluate(LAYOUT_SHIFT)
    assert shifted < 0.1


def test_a_verdict_prints_on_few_pages(visitor, customers):
    session = customers.verdict("strategy", "RED")
    customers.settled(session)
    page = visitor.result(session)
    page.emulate_media(media="print")
    for kept in (".band h1", ".summary", "svg.picture", ".strategy", "blockquote", ".fingerprint"):
        expect(page.locator(kept)).to_be_visible()
    expect(page.locator("footer")).to_be_hidden()
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    assert pages <= 3


def test_the_content_security_policy_blocks_inline_script_and_style(visitor):
    page = visitor.open()
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.executed = true";
          document.body.append(script);
          document.body.setAttribute("style", "display: none");
        }"""
    )
    assert not page.evaluate("window.executed")
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert len(visitor.errors) == 2
    visitor.errors.clear()


def test_the_admin_works_under_its_content_security_policy(visitor, customers):
    customers.shell(
        "from django.contrib.auth import get_user_model as users\n"
        "users().objects.create_superuser('look', password='only-for-this-test')"
    )
    page = visitor.open("/admin/")
    page.fill("#id_username", "look")
    page.fill("#id_password", "only-for-this-test")
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{visitor.url}/admin/verdicts/order/")
    expect(page.locator("#result_list")).to_be_visible()


def test_the_api_docs_work_without_external_resources(visitor):
    page = visitor.open("/api/docs/")
    expect(page.get_by_role("heading", name="Oracle")).to_be_visible()
    expect(page.get_by_role("heading", name="The verdict of a Checkout session")).to_be_visible()
    # Redoc loads its vendor's logo, which the policy blocks.
    (logo,) = visitor.errors
    assert "cdn.redoc.ly/redoc/logo-mini.svg" in logo
    assert "blocked" in logo
    visitor.errors.clear()
    visitor.requested = [url for url in visitor.requested if not url.endswith("logo-mini.svg")]
