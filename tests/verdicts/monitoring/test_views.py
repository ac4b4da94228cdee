import pytest
from django.conf import settings
from django.test import override_settings

from tests.verdicts.monitoring.conftest import TOKEN


def test_liveness_needs_no_database(client):
    answer = client.get("/healthz")  # pytest-django blocks the database in this test
    alive = {"alive": True, "version": settings.ORACLE_VERSION}
    assert (answer.status_code, answer.json()) == (200, alive)
    assert client.post("/healthz").status_code == 405


@override_settings(SECURE_SSL_REDIRECT=True)
def test_probes_may_use_plain_http_but_metrics_redirect_to_https(client, db):
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert client.get("/metrics", headers=TOKEN).status_code == 301


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guessed"}])
def test_metrics_require_a_token(client, headers):
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["type"] == "unauthorized"


def test_the_format_does_not_depend_on_the_accept_header(client, db):
    accept = "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4"
    answer = client.get("/metrics", headers={**TOKEN, "Accept": accept})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE oracle_cache_hits_total counter" in answer.content


def test_operational_urls_are_not_in_the_api_schema(client):
    assert b"/metrics" not in client.get("/api/schema/").content
