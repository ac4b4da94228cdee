import pytest

from drill.sites.live_site import free_port
from verdicts.core.errors import SiteAway
from verdicts.http.plain_http import Reply, request


def test_an_answer_is_its_status_and_its_object(sandbox):
    reply = request("GET", f"{sandbox.url}/_control/health", deadline=10)
    assert (reply.status, reply.body["ok"]) == (200, True)
    assert reply.headers["content-type"].startswith("application/json")


def test_what_is_sent_arrives_and_a_refusal_is_an_answer(sandbox):
    rule = {"target": "gemini", "fault": "slow"}
    url = f"{sandbox.url}/_control/faults"
    assert request("POST", url, deadline=10, sent=rule).status == 201
    assert sandbox.faults()[0]["fault"] == "slow"
    assert request("POST", url, deadline=10, sent={"target": "moon"}).status == 400


def test_parameters_are_quoted(sandbox):
    url = f"{sandbox.url}/_control/messages"
    reply = request("GET", url, deadline=10, params={"to": "a&to=b+c@example.com"})
    assert reply.body == {"messages": []}


def test_a_redirect_is_not_followed(sandbox):
    session = sandbox.create_session(
        success_url="http://127.0.0.1:9/", cancel_url="http://x.example/"
    )
    reply = request("POST", f"{sandbox.url}/pay/{session['id']}", deadline=10)
    assert reply.status == 303


def test_a_server_that_never_comes_to_an_end_is_left(sandbox):
    sandbox.fault("stripe", "dribble")
    with pytest.raises(SiteAway, match="no answer within 1 s"):
        request("GET", f"{sandbox.url}/v1/checkout/sessions", deadline=1)


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/", "http://:0/", "nonsense"])
def test_an_address_at_which_nobody_is(address):
    with pytest.raises(SiteAway, match="not to be reached"):
        request("GET", address.format(port=free_port()), deadline=10)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000])
def test_what_is_no_object_is_an_empty_one(text):
    assert Reply(200, {}, text).body == {}
