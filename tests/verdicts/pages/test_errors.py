import pytest
from django.test import RequestFactory

from verdicts.pages import errors

REQUEST = RequestFactory().get("/")
PAGES = [
    (lambda: errors.bad_request(REQUEST, Exception("secret")), 400, "We cannot read this request"),
    (lambda: errors.csrf_failure(REQUEST, "secret"), 403, "Please send the form again"),
    (lambda: errors.not_found(REQUEST, Exception("secret")), 404, "There is no such page"),
    (lambda: errors.server_error(REQUEST), 500, "This is our fault"),
]


@pytest.mark.parametrize(("render", "status", "heading"), PAGES)
def test_an_error_page_explains_without_internal_detail(render, status, heading):
    page = render()
    text = page.content.decode()
    assert page.status_code == status
    assert heading in text
    assert "oracle@42sisters.ai" in text
    assert "What was charged" in text
    assert "secret" not in text


def test_an_unknown_url_gets_our_error_page(client, settings):
    settings.DEBUG = False
    answer = client.get("/no-such-page")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()
