"""A session id is the only key: whoever has nearly one learns what anybody learns of any other."""

from contextlib import closing

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.reader_requests import Asked, Counting, ask_reader
from verdicts.payments import rate_limit
from verdicts.results.reader.application import Reader

pytestmark = pytest.mark.django_db
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
UNKNOWN = "cs_test_nobodyHasThisOne1"


@pytest.fixture(autouse=True)
def no_limit(monkeypatch) -> None:
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 1000)


def near(session_id: str) -> list[str]:
    """Ids that anybody could make up who has seen part of one."""
    return [
        session_id[:-1],
        f"{session_id}0",
        session_id.replace("cs_test_", "cs_live_"),
        session_id[:-1] + ("b" if session_id[-1] == "a" else "a"),
        session_id[:8] + session_id[8:].swapcase(),
        session_id[:8] + session_id[:7:-1],
    ]


@pytest.fixture
def learn(client, sandbox):
    """All that an answer tells: status, headers, text, and how much was done for it."""

    def ask(method: str, path: str, **more):
        sandbox.clear_requests()
        with CaptureQueriesContext(connection) as queries:
            answer = getattr(client, method)(path, **more)
        asked = [(one["method"], one["path"].rpartition("/")[0]) for one in sandbox.requests()]
        told = {name: value for name, value in answer.items() if name != "Content-Length"}
        return answer.status_code, told, answer.content, len(queries), asked

    return ask


def test_nearly_a_session_id_is_as_good_as_none(delivered, learn):
    order = delivered("quick")
    learn("get", "/api/verdict", query_params={"session_id": UNKNOWN})  # whatever happens only once
    for path in ("/oracle/result", "/api/verdict"):
        nothing = learn("get", path, query_params={"session_id": UNKNOWN})
        assert nothing[0] == 404
        for guess in near(order.session_id):
            assert guess != order.session_id
            assert learn("get", path, query_params={"session_id": guess}) == nothing, guess
        assert learn("get", path, query_params={"session_id": order.session_id})[0] == 200


def test_not_even_services_learn_more(delivered, learn):
    order = delivered("quick")
    nothing = learn("get", f"/cache/{UNKNOWN}", headers=TOKEN)
    assert nothing[0] == 404
    for guess in near(order.session_id):
        assert learn("get", f"/cache/{guess}", headers=TOKEN) == nothing
        sent = {"data": {"session_id": guess}, "content_type": "application/json"}
        assert learn("post", "/send-verdict-email", headers=TOKEN, **sent)[0] == 404


@pytest.mark.parametrize(
    "odd", ["", "%", "_", "*", "{}\n", "{}\0", " {}", "{}'--", "CS_TEST_{}", "{}%", "{}/", "{}.."]
)
def test_what_is_no_session_id_is_looked_up_nowhere(delivered, learn, odd):
    order = delivered("quick")
    asked = odd.format(order.session_id)
    for path in ("/oracle/result", "/api/verdict"):
        status, _, text, queries, calls = learn("get", path, query_params={"session_id": asked})
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


def test_a_staff_login_opens_no_verdict(admin_client):
    assert admin_client.get("/oracle/result").status_code == 400


def test_whoever_guesses_too_often_learns_no_more_by_it(delivered, learn, monkeypatch):
    """A wrong id that is nearly right, and one that nobody has, are counted and refused alike."""
    order = delivered("quick")
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 0)
    monkeypatch.setattr(rate_limit, "SECONDS", 10**9)  # one minute that does not end
    monkeypatch.setattr(rate_limit, "wait", lambda: 7)
    learn("get", "/api/verdict", query_params={"session_id": UNKNOWN})  # the minute's first
    for path in ("/oracle/result", "/api/verdict"):
        nothing = learn("get", path, query_params={"session_id": UNKNOWN})
        assert nothing[0] == 429
        assert nothing[-1] == []  # Stripe is not asked
        for guess in near(order.session_id):
            assert learn("get", path, query_params={"session_id": guess}) == nothing, guess
        assert learn("get", path, query_params={"session_id": order.session_id})[0] == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_without_a_token_nothing_is_looked_up(delivered, learn, headers):
    order = delivered("quick")
    refused = learn("get", f"/cache/{UNKNOWN}", headers=headers)
    assert (refused[0], *refused[-2:]) == (401, 0, [])
    for guess in (order.session_id, "nonsense", *near(order.session_id)):
        assert learn("get", f"/cache/{guess}", headers=headers) == refused
        sent = {"data": {"session_id": guess}, "content_type": "application/json"}
        told = learn("post", "/send-verdict-email", headers=headers, **sent)
        assert (told[0], *told[-2:]) == (401, 0, [])


@pytest.mark.django_db(transaction=True)
def test_the_reader_does_as_much_for_nearly_a_session_id_as_for_any_other(delivered):
    order = delivered("quick")
    lookup = Counting()
    with closing(Reader(lambda: lookup, batched=False)) as reader:
        for guess in (UNKNOWN, *near(order.session_id)):
            assert ask_reader(reader, Asked(guess)) == [(404, [], b"")], guess
            assert lookup.queries.pop() == [guess]
        ((status, _, _),) = ask_reader(reader, Asked(order.session_id))
    assert (status, lookup.queries) == (200, [[order.session_id]])
