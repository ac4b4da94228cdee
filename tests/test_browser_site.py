"""What the pages weigh, what they may load, how they print; and that staff pages still work."""

import re

from playwright.sync_api import expect

from tests.support.customers import IDEA
from verdicts.core.prompt import MAX_QUERY

HEAVIEST = 60_000  # bytes of a result page in all, uncompressed
FIRST_FLIGHT = 14_600  # bytes that a server sends before it waits for an answer


SHIFTED = """() => new Promise((done) => {
  const sum = (list) => done(list.getEntries().reduce((all, one) => all + one.value, 0));
  new PerformanceObserver(sum).observe({ type: "layout-shift", buffered: true });
  setTimeout(done, 300, 0);
})"""


def test_a_result_page_is_light_and_waits_for_one_stylesheet(visitor, customers):
    session = customers.verdict("strategy", "AMBER")
    customers.settled(session)
    page = visitor.open("about:blank", scheme="dark")  # a browser that has loaded nothing yet
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    page.goto(f"{visitor.url}/oracle/result?session_id={session}", wait_until="networkidle")
    longest = MAX_QUERY - len(IDEA)  # what a customer may write more than this one did
    assert sum(sizes.values()) + longest < HEAVIEST, sizes
    assert sizes[page.url] + longest < FIRST_FLIGHT, sizes
    blocking = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(one => one.renderBlockingStatus === 'blocking').map(one => one.name)"
    )
    assert [name.rpartition("/")[2] for name in blocking] == ["oracle.css"]


def test_nothing_moves_while_a_result_page_loads(visitor, customers):
    session = customers.verdict("full", "GREEN")
    customers.settled(session)
    page = visitor.result(session)
    page.wait_for_timeout(300)
    shifted = page.evaluate(SHIFTED)
    assert shifted < 0.1


def test_a_printed_verdict_is_a_document(visitor, customers):
    session = customers.verdict("strategy", "RED")
    customers.settled(session)
    page = visitor.result(session)
    page.emulate_media(media="print")
    for kept in (".band h1", ".summary", "svg.picture", ".strategy", "blockquote", ".fingerprint"):
        expect(page.locator(kept)).to_be_visible()
    expect(page.locator("footer")).to_be_hidden()
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    assert pages <= 3


def test_the_policy_lets_no_inline_script_or_style_act(visitor):
    page = visitor.open()
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.acted = true";
          document.body.append(script);
          document.body.setAttribute("style", "display: none");
        }"""
    )
    assert not page.evaluate("window.acted")
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert len(visitor.errors) == 2
    visitor.errors.clear()


def test_the_admin_works_under_its_policy(visitor, customers):
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


def test_the_api_documentation_works_and_loads_nothing_from_elsewhere(visitor):
    page = visitor.open("/api/docs/")
    expect(page.get_by_role("heading", name="Oracle")).to_be_visible()
    expect(page.get_by_role("heading", name="The verdict of a Checkout session")).to_be_visible()
    # Its maker's logo, which nobody here misses; the policy refuses it.
    (logo,) = visitor.errors
    assert "cdn.redoc.ly/redoc/logo-mini.svg" in logo
    assert "blocked" in logo
    visitor.errors.clear()
    visitor.asked_for = [url for url in visitor.asked_for if not url.endswith("logo-mini.svg")]
