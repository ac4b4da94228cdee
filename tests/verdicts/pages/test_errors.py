import pytest
from django.test import RequestFactory

from verdicts.pages import errors

REQUEST = RequestFactory().get("/")
PAGES = [
    (lambda: errors.bad_request(REQUEST, Exception("secret")), 400, "We cannot read this request"),
    (lambda: errors.forged(REQUEST, "secret"), 403, "Please send the form again"),
    (lambda: errors.not_found(REQUEST, Exception("secret")), 404, "There is no such page"),
    (lambda: errors.failed(REQUEST), 500, "This is our fault"),
]


@pytest.mark.parametrize(("answer", "status", "words"), PAGES)
def test_an_error_has_words_and_the_support_address_and_no_detail(answer, status, words):
    page = answer()
    text = page.content.decode()
    assert page.status_code == status
    assert words in text
    assert "oracle@42sisters.ai" in text
    assert "What was charged" in text
    assert "secret" not in text


def test_an_unknown_address_gets_our_page(client, settings):
    settings.DEBUG = False
    answer = client.get("/no-such-page")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()
