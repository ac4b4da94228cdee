import pytest

from oracle_site.csp import HEADER, policy_for

INLINE = ("'unsafe-inline'", "'unsafe-eval'")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/oracle/result", "/no-such-page", "/api/verdict"])
def test_customer_pages_allow_no_inline_code_and_no_other_origin(client, path):
    policy = client.get(path)[HEADER]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert not any(source in policy for source in (*INLINE, "https:", "data:", "*"))


def test_forms_may_only_lead_to_the_site_and_the_payment_page(settings):
    settings.SANDBOX_URL = "http://127.0.0.1:8010"
    assert "form-action 'self' http://127.0.0.1:8010" in policy_for("/")
    settings.SANDBOX = False
    assert policy_for("/").endswith("form-action 'self' https://checkout.stripe.com")


@pytest.mark.parametrize("path", ["/", "/admin/", "/api/docs/"])
def test_no_page_can_be_framed_or_have_its_base_changed(path):
    assert "base-uri 'none'; frame-ancestors 'none'" in policy_for(path)


@pytest.mark.parametrize("path", ["/", "/admin/", "/api/docs/"])
def test_no_page_runs_inline_scripts(path):
    scripts = [part for part in policy_for(path).split("; ") if not part.startswith("style-src")]
    assert not any("'unsafe-inline'" in part for part in scripts)


def test_only_the_console_allows_eval():
    assert "'unsafe-eval'" in policy_for("/admin/")
    assert not any("'unsafe-eval'" in policy_for(path) for path in ("/", "/api/docs/"))


def test_the_referrer_is_the_origin_only(client):
    assert client.get("/")["Referrer-Policy"] == "strict-origin"


def test_django_debug_pages_have_no_policy(client, settings):
    settings.DEBUG = True
    assert HEADER not in client.get("/no-such-page")
    assert HEADER in client.get("/")
