"""Graph's sendMail, through httpx."""

from pathlib import Path

import httpx
import pytest

from sandbox.faults import KNOWN
from tests.support.graph_requests import SENDER, message, send, token


def test_a_token_is_issued_for_client_credentials(web):
    answer = token(web).json()
    assert answer["token_type"] == "Bearer"
    assert answer["expires_in"] == 3_599
    assert answer["access_token"]


def test_a_message_is_accepted_and_can_be_read(sandbox, web):
    response = send(web, message())
    assert (response.status_code, response.content) == (202, b"")
    (taken,) = sandbox.messages()
    assert taken["from"] == f"Oracle <{SENDER}>"
    assert taken["to"] == ["ada@example.com"]
    assert taken["subject"] == "Your verdict is GREEN"
    assert taken["message_id"] == "<verdict-1@oracle.example>"
    assert taken["text"] == "The verdict is GREEN – it holds.\n"
    assert "<h1>GREEN</h1>" in taken["html"]
    assert taken["headers"]["Subject"] == "Your verdict is GREEN"


def test_messages_can_be_filtered_by_recipient(sandbox, web):
    send(web, message(to="Ada <ada@example.com>, bob@example.com"))
    send(web, message("For Bob", to="bob@example.com"))
    assert len(sandbox.messages(to="BOB@example.com")) == 2
    assert len(sandbox.messages(to="ada@example.com")) == 1
    assert sandbox.messages(to="eve@example.com") == []


def test_a_json_message_is_accepted_too(sandbox, web):
    bearer = token(web).json()["access_token"]
    mail = {
        "subject": "Hello",
        "body": {"contentType": "HTML", "content": "<p>Hi</p>"},
        "toRecipients": [{"emailAddress": {"address": "ada@example.com"}}],
    }
    response = web.post(
        f"/v1.0/users/{SENDER}/sendMail",
        json={"message": mail},
        headers={"Authorization": f"Bearer {bearer}"},
    )
    assert response.status_code == 202
    assert sandbox.messages()[0]["html"] == "<p>Hi</p>"


def test_a_bad_secret_gets_no_token(web):
    refused = token(web, "bad-secret")
    assert refused.status_code == 401
    assert refused.json()["error"] == "invalid_client"
    assert web.post("/t/oauth2/v2.0/token", data={}).status_code == 400


def test_an_unknown_or_expired_token_gets_graphs_401(sandbox, web):
    assert send(web, message(), bearer="made.up").status_code == 401
    bearer = token(web).json()["access_token"]
    sandbox.expire_tokens()
    refused = send(web, message(), bearer=bearer)
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "InvalidAuthenticationToken"
    assert sandbox.messages() == []


def test_tokens_expire(sandbox, web):
    sandbox.settings(token_seconds=1)
    assert token(web).json()["expires_in"] == 1


def test_mail_from_another_sender_is_rejected(sandbox, web):
    mail = message()
    mail.replace_header("From", "Somebody <else@example.com>")
    assert send(web, mail).json()["error"]["code"] == "ErrorSendAsDenied"
    assert sandbox.messages() == []


@pytest.mark.parametrize("body", [b"no base64!", b"", b"\xff\xfe", b"aGVsbG8="])
def test_an_invalid_message_is_rejected_without_a_traceback(web, body):
    bearer = token(web).json()["access_token"]
    for kind in ("text/plain", "application/json"):
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": kind}
        response = web.post(f"/v1.0/users/{SENDER}/sendMail", content=body, headers=headers)
        assert response.status_code == 400
        assert response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("unauthorized", 401),
        ("rate_limited", 429),
        ("error", 500),
        ("bad_gateway", 502),
        ("unavailable", 503),
    ],
)
def test_an_error_has_graphs_format_and_the_message_is_not_accepted(sandbox, web, fault, status):
    sandbox.fault("graph", fault, match="sendMail")
    response = send(web, message())
    assert response.status_code == status
    assert response.json()["error"]["message"]
    assert ("Retry-After" in response.headers) == (status in (429, 503))
    assert sandbox.messages() == []
    assert send(web, message()).status_code == 202


def test_hang_up_accepts_no_message(sandbox, web):
    sandbox.fault("graph", "hang_up", match="sendMail")
    with pytest.raises(httpx.RemoteProtocolError):
        send(web, message())
    assert sandbox.messages() == []


def test_hang_up_after_accepts_the_message_without_a_response(sandbox, web):
    sandbox.fault("graph", "hang_up_after", match="ada@example.com")
    with pytest.raises(httpx.RemoteProtocolError):
        send(web, message())
    assert len(sandbox.messages()) == 1


@pytest.mark.parametrize(("fault", "taken"), [("slow", 0), ("slow_after", 1)])
def test_a_slow_server_exceeds_the_timeout(sandbox, web, fault, taken):
    bearer = token(web).json()["access_token"]
    sandbox.fault("graph", fault, seconds=30)
    web.timeout = 0.3
    with pytest.raises(httpx.ReadTimeout):
        send(web, message(), bearer)
    assert len(sandbox.messages()) == taken


def test_the_token_endpoint_can_fail_too(sandbox, web):
    sandbox.fault("graph", "unavailable", match="oauth2")
    assert token(web).status_code == 503
    sandbox.fault("graph", "broken_body", match="oauth2")
    assert token(web).content == b'{"id": "cut o'
    sandbox.fault("graph", "dribble", match="oauth2", seconds=0.01)
    with web.stream("POST", "/t/oauth2/v2.0/token") as response:
        assert next(response.iter_raw())


def test_a_rule_can_match_the_message_text(sandbox, web):
    sandbox.fault("graph", "error", times=None, match="bob@example.com")
    assert send(web, message()).status_code == 202
    assert send(web, message(to="bob@example.com")).status_code == 500


def test_every_fault_of_graph_is_tested_here():
    text = Path(__file__).read_text()
    assert not [name for name in KNOWN["graph"] if f'"{name}"' not in text]
