import pytest
from django.conf import settings
from django.test import override_settings

from tests.verdicts.monitoring.conftest import TOKEN


def test_alive_needs_no_database(client):
    answer = client.get("/healthz")  # pytest-django refuses the database here
    alive = {"alive": True, "version": settings.ORACLE_VERSION}
    assert (answer.status_code, answer.json()) == (200, alive)
    assert client.post("/healthz").status_code == 405


@override_settings(SECURE_SSL_REDIRECT=True)
def test_probes_from_beside_us_are_not_sent_to_https_but_the_token_is(client, db):
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert client.get("/metrics", headers=TOKEN).status_code == 301


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guessed"}])
def test_metrics_are_for_whoever_has_a_token(client, headers):
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["type"] == "unauthorized"


def test_prometheus_gets_its_format_whatever_it_names_first(client, db):
    accept = "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4"
    answer = client.get("/metrics", headers={**TOKEN, "Accept": accept})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE oracle_cache_hits_total counter" in answer.content


def test_operators_addresses_are_no_part_of_the_contract(client):
    assert b"/metrics" not in client.get("/api/schema/").content
