import pytest

from oracle_site.csp import HEADER, policy_for

INLINE = ("'unsafe-inline'", "'unsafe-eval'")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/oracle/result", "/no-such-page", "/api/verdict"])
def test_customers_pages_allow_nothing_inline_and_nothing_from_elsewhere(client, path):
    policy = client.get(path)[HEADER]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert not any(word in policy for word in (*INLINE, "https:", "data:", "*"))


def test_the_order_form_may_lead_to_the_payment_page_and_nowhere_else(settings):
    settings.SANDBOX_URL = "http://127.0.0.1:8010"
    assert "form-action 'self' http://127.0.0.1:8010" in policy_for("/")
    settings.SANDBOX = False
    assert policy_for("/").endswith("form-action 'self' https://checkout.stripe.com")


@pytest.mark.parametrize("path", ["/", "/admin/", "/api/docs/"])
def test_nobody_may_frame_us_or_move_our_base(path):
    assert "base-uri 'none'; frame-ancestors 'none'" in policy_for(path)


@pytest.mark.parametrize("path", ["/", "/admin/", "/api/docs/"])
def test_no_page_runs_inline_scripts(path):
    scripts = [part for part in policy_for(path).split("; ") if not part.startswith("style-src")]
    assert not any("'unsafe-inline'" in part for part in scripts)


def test_only_the_console_may_evaluate():
    assert "'unsafe-eval'" in policy_for("/admin/")
    assert not any("'unsafe-eval'" in policy_for(path) for path in ("/", "/api/docs/"))


def test_a_browser_names_the_site_and_never_the_address(client):
    assert client.get("/")["Referrer-Policy"] == "strict-origin"


def test_in_development_djangos_own_error_pages_work(client, settings):
    settings.DEBUG = True
    assert HEADER not in client.get("/no-such-page")
    assert HEADER in client.get("/")
