"""A session id is the only key: a nearly correct one is answered like any unknown one."""

from contextlib import closing

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.reader_requests import Asked, Counting, ask_reader
from verdicts.payments import rate_limit
from verdicts.results.reader.application import Reader

pytestmark = pytest.mark.django_db
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
UNKNOWN = "cs_test_unknownSession1"


@pytest.fixture(autouse=True)
def no_limit(monkeypatch) -> None:
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 1000)


def near(session_id: str) -> list[str]:
    """Ids that a client could guess from part of a real one."""
    return [
        session_id[:-1],
        f"{session_id}0",
        session_id.replace("cs_test_", "cs_live_"),
        session_id[:-1] + ("b" if session_id[-1] == "a" else "a"),
        session_id[:8] + session_id[8:].swapcase(),
        session_id[:8] + session_id[:7:-1],
    ]


@pytest.fixture
def observe(client, sandbox):
    """All that a client could learn: status, headers, text, queries and requests to Stripe."""

    def request(method: str, path: str, **more):
        sandbox.clear_requests()
        with CaptureQueriesContext(connection) as queries:
            response = getattr(client, method)(path, **more)
        calls = [(one["method"], one["path"].rpartition("/")[0]) for one in sandbox.requests()]
        headers = {name: value for name, value in response.items() if name != "Content-Length"}
        return response.status_code, headers, response.content, len(queries), calls

    return request


def test_a_nearly_correct_session_id_is_answered_like_an_unknown_one(delivered, observe):
    order = delivered("quick")
    observe("get", "/api/verdict", query_params={"session_id": UNKNOWN})  # fills caches
    for path in ("/oracle/result", "/api/verdict"):
        unknown = observe("get", path, query_params={"session_id": UNKNOWN})
        assert unknown[0] == 404
        for guess in near(order.session_id):
            assert guess != order.session_id
            assert observe("get", path, query_params={"session_id": guess}) == unknown, guess
        assert observe("get", path, query_params={"session_id": order.session_id})[0] == 200


def test_services_learn_no_more_than_other_clients(delivered, observe):
    order = delivered("quick")
    unknown = observe("get", f"/cache/{UNKNOWN}", headers=TOKEN)
    assert unknown[0] == 404
    for guess in near(order.session_id):
        assert observe("get", f"/cache/{guess}", headers=TOKEN) == unknown
        sent = {"data": {"session_id": guess}, "content_type": "application/json"}
        assert observe("post", "/send-verdict-email", headers=TOKEN, **sent)[0] == 404


@pytest.mark.parametrize(
    "malformed",
    ["", "%", "_", "*", "{}\n", "{}\0", " {}", "{}'--", "CS_TEST_{}", "{}%", "{}/", "{}.."],
)
def test_a_malformed_session_id_causes_no_query(delivered, observe, malformed):
    order = delivered("quick")
    guess = malformed.format(order.session_id)
    for path in ("/oracle/result", "/api/verdict"):
        status, _, text, queries, calls = observe("get", path, query_params={"session_id": guess})
        assert (status, queries, calls) == (400, 0, [])
        assert order.query.encode() not in text


def test_a_verdict_is_found_by_nothing_but_its_session(client, delivered):
    order = delivered("quick")
    keys = {"id": order.pk, "order": order.pk, "email": order.email, "token": str(order.token)}
    keys |= {
        "payment_intent": order.payment_intent,
        "fingerprint": order.verdicts.get().fingerprint,
    }
    for name, value in keys.items():
        for path in ("/oracle/result", "/api/verdict"):
            assert client.get(path, {name: value}).status_code == 400
            assert client.get(path, {"session_id": value}).status_code == 400
    for listing in ("/cache/", "/cache", "/oracle/", "/api/", "/api/verdicts", "/oracle/result/"):
        assert client.get(listing, headers=TOKEN).status_code == 404


def test_a_staff_login_does_not_replace_the_session_id(admin_client):
    assert admin_client.get("/oracle/result").status_code == 400


def test_the_rate_limit_does_not_distinguish_nearly_correct_ids(delivered, observe, monkeypatch):
    """Nearly correct and unknown ids are counted and refused alike."""
    order = delivered("quick")
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 0)
    monkeypatch.setattr(rate_limit, "SECONDS", 10**9)  # one window that does not end
    monkeypatch.setattr(rate_limit, "wait", lambda: 7)
    # The first request of the window.
    observe("get", "/api/verdict", query_params={"session_id": UNKNOWN})
    for path in ("/oracle/result", "/api/verdict"):
        unknown = observe("get", path, query_params={"session_id": UNKNOWN})
        assert unknown[0] == 429
        assert unknown[-1] == []  # Stripe is not asked
        for guess in near(order.session_id):
            assert observe("get", path, query_params={"session_id": guess}) == unknown, guess
        assert observe("get", path, query_params={"session_id": order.session_id})[0] == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_without_a_token_there_is_no_query(delivered, observe, headers):
    order = delivered("quick")
    refused = observe("get", f"/cache/{UNKNOWN}", headers=headers)
    assert (refused[0], *refused[-2:]) == (401, 0, [])
    for guess in (order.session_id, "nonsense", *near(order.session_id)):
        assert observe("get", f"/cache/{guess}", headers=headers) == refused
        sent = {"data": {"session_id": guess}, "content_type": "application/json"}
        response = observe("post", "/send-verdict-email", headers=headers, **sent)
        assert (response[0], *response[-2:]) == (401, 0, [])


@pytest.mark.django_db(transaction=True)
def test_the_reader_treats_a_nearly_correct_session_id_like_an_unknown_one(delivered):
    order = delivered("quick")
    lookup = Counting()
    with closing(Reader(lambda: lookup, batched=False)) as reader:
        for guess in (UNKNOWN, *near(order.session_id)):
            assert ask_reader(reader, Asked(guess)) == [(404, [], b"")], guess
            assert lookup.queries.pop() == [guess]
        ((status, _, _),) = ask_reader(reader, Asked(order.session_id))
    assert (status, lookup.queries) == (200, [[order.session_id]])
