import pytest

from drill.sites.live_site import free_port
from verdicts.core.errors import SiteUnreachable
from verdicts.http.plain_http import Reply, request


def test_a_reply_has_status_body_and_headers(sandbox):
    reply = request("GET", f"{sandbox.url}/_control/health", deadline=10)
    assert (reply.status, reply.body["ok"]) == (200, True)
    assert reply.headers["content-type"].startswith("application/json")


def test_json_is_sent_and_an_error_status_is_a_reply(sandbox):
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


def test_a_dribbling_server_is_abandoned_at_the_deadline(sandbox):
    sandbox.fault("stripe", "dribble")
    with pytest.raises(SiteUnreachable, match="no response within 1 s"):
        request("GET", f"{sandbox.url}/v1/checkout/sessions", deadline=1)


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/", "http://:0/", "nonsense"])
def test_an_unreachable_address_raises(address):
    with pytest.raises(SiteUnreachable, match="unreachable"):
        request("GET", address.format(port=free_port()), deadline=10)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000])
def test_a_body_that_is_not_an_object_is_read_as_empty(text):
    assert Reply(200, {}, text).body == {}
