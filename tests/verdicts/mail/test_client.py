from dataclasses import replace

import pytest

from tests.support.smtp_server import smtp_server
from verdicts.core.errors import MailRefused, MailUncertain
from verdicts.mail.client import Message, send

MESSAGE = Message(
    to=["buyer@example.com"],
    subject="Your verdict\r\nBcc: everyone@example.com",
    text="Plainly.",
    html="<p>Plainly.</p>",
    message_id="<verdict.1@oracle.example>",
)


@pytest.fixture
def by_smtp(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    settings.EMAIL_TIMEOUT = 2
    return settings


def test_smtp_carries_both_bodies_our_message_id_and_no_smuggled_header(by_smtp):
    with smtp_server("good") as server:
        by_smtp.EMAIL_PORT = server.server_address[1]
        send(MESSAGE)
    (message,) = server.messages
    assert "Message-ID: <verdict.1@oracle.example>" in message
    assert "Plainly." in message
    assert "<p>Plainly.</p>" in message
    assert "\r\nBcc:" not in message
    assert "Reply-To: oracle@42sisters.ai" in message


@pytest.mark.parametrize(
    ("mood", "error"),
    [
        ("refuses", MailRefused),
        ("hangs_up", MailUncertain),
        ("took_it_and_died", MailUncertain),
    ],
)
def test_refusals_and_unknown_results_are_distinguished(by_smtp, mood, error):
    with smtp_server(mood) as server:
        by_smtp.EMAIL_PORT = server.server_address[1]
        with pytest.raises(error):
            send(MESSAGE)


@pytest.mark.parametrize("address", ["a,b@c.ca", "a@b..ca", "ö,b@c.ca", "a@" + "é" * 80 + ".ca"])
def test_an_address_that_cannot_be_written_is_refused_and_not_repeated(by_smtp, address):
    with smtp_server("good") as server:
        by_smtp.EMAIL_PORT = server.server_address[1]
        with pytest.raises(MailRefused) as caught:
            send(replace(MESSAGE, to=[address]))
    assert address not in str(caught.value)


def test_a_refused_connection_is_a_refusal(by_smtp):
    by_smtp.EMAIL_PORT = 1
    with pytest.raises(MailRefused, match="no mail server"):
        send(MESSAGE)


def test_email_can_go_to_files(settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = tmp_path
    send(MESSAGE)
    (written,) = tmp_path.iterdir()
    assert "Message-ID: <verdict.1@oracle.example>" in written.read_text()
