"""Headers that Django would fail on are answered with 400."""

import io
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from oracle_site.wsgi import application

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
POSTED = ["/", "/api/webhook", "/api/checkout", "/admin/login/"]
READ = ["/", "/api/verdict", "/oracle/result", "/admin/login/"]


def request(path: str, **changes: str) -> tuple[str, bytes]:
    environ: dict[str, Any] = {
        "PATH_INFO": path,
        "QUERY_STRING": "session_id=cs_test_12345678",
        "HTTP_HOST": "127.0.0.1",
        **changes,
    }
    setup_testing_defaults(environ)
    environ["wsgi.input"] = io.BytesIO(b"a=b")
    statuses: list[str] = []
    parts = application(environ, lambda status, *_: statuses.append(status))
    return statuses[0], b"".join(parts)


@pytest.mark.parametrize("path", POSTED)
@pytest.mark.parametrize("length", ["abc", "-1", "٣", "1e3"])
def test_an_invalid_content_length_is_answered_with_400(path, length):
    headers = {"REQUEST_METHOD": "POST", "CONTENT_TYPE": FORM, "CONTENT_LENGTH": length}
    assert request(path, **headers) == ("400 Bad Request", b"The Content-Length is not a number.")


@pytest.mark.parametrize(
    "parameter",
    [
        *("charset=utf-16", "charset=cp037", "charset=rot13", "charset=hex", "charset=none"),
        *("charset*=rot13''x", "name*=none''x", 'charset="\x00"'),
    ],
)
@pytest.mark.parametrize("path", READ)
def test_another_charset_is_answered_with_400(path, parameter):
    kind = f"text/plain; {parameter}"
    assert request(path, CONTENT_TYPE=kind) == ("400 Bad Request", b"The charset is not UTF-8.")


@pytest.mark.parametrize("charset", ["utf-8", '"UTF-8"', "us-ascii", "ISO-8859-1"])
def test_supersets_of_ascii_are_accepted(charset):
    assert request("/", CONTENT_TYPE=f"text/plain; charset={charset}")[0] == "200 OK"
