"""Malformed and hostile input by kind, shared by all tests that send some."""

import gzip
import json

LONG = 100_000
TOO_LARGE = 600 * 1024

# In URLs: query parameters or parts of a path.
TEXTS = (
    "",
    "%00",
    "%ff%fe",
    "%ED%A0%80",  # a lone surrogate
    "%0d%0aSet-Cookie:%20a=b",
    "%1b[2J",
    "%E2%80%AE%E2%80%8B",
    "..%2f..%2fetc%2fpasswd",
    "'%20OR%201=1--",
    "%25",
    "%",
    "%zz",
    "%D9%A3",  # a digit, but not in ASCII
    "-1",
    "99999999999999999999999",
    "1e309",
    "nan",
    "null",
    "None",
    "2026-02-30",
    "99999-01-01",
    "<script>",
    "{{7*7}}",
    "a" * 5000,
)

_ORDER = {"tier": "quick", "query": "Should I?", "email": "a@example.com"}


def order(**changes: object) -> bytes:
    return json.dumps({**_ORDER, **changes}).encode()


# Bodies that are neither an order nor a Stripe event.
BODIES = (
    b"",
    b"\0",
    b"\xff\xfe",
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"text"',
    b"NaN",
    b"{}",
    b"[" * LONG,
    b'{"a":' * LONG,
    b'{"tier": ' + b"9" * 5000 + b"}",
    b'{"tier": 1e999}',
    b'{"tier": "quick", "tier": "full", "query": "x"}',
    b'{"\\ud800": "\\udfff"}',
    order().decode().encode("utf-16"),
    b"\xef\xbb\xbf" + order(),
    gzip.compress(order()),
    b" " * TOO_LARGE,
    order(query="x" * TOO_LARGE),
    order(tier="platinum"),
    order(tier=None),
    order(tier=["quick"]),
    order(tier={"quick": 1}),
    order(tier="QUICK"),
    order(tier="quick\0"),
    order(query=None),
    order(query=7),
    order(query=["x"]),
    order(query=""),
    order(query="\ud800"),
    order(query="a\0b"),
    order(query="\x1b[2J"),
    order(query="x" * 4001),
    order(email=7),
    order(email="a@example.com\r\nBcc: b@example.com"),
    order(email="a" * 5000 + "@example.com"),
    order(email="<script>@example.com"),
    order(email="\ud800@example.com"),
)

# URL-encoded form bodies of the same kind.
FORMS = (
    b"",
    b"\xff\xfe=\xff",
    b"%00=%00&tier=%00&query=%00&email=%00",
    b"tier=quick&query=%ED%A0%80%ff",
    b"tier=platinum&query=x",
    b"tier=quick&tier=full&query=a&query=b%00",
    b"tier=quick&query=" + b"x" * 5000,
    b"tier=quick&query=x&email=a%0d%0aBcc:b@example.com",
    b"&".join(b"a%d=1" % number for number in range(2000)),
    b"a" * TOO_LARGE,
    b"price=-1&amount=-1&tier=quick&query=",
    b";&=&=;",
)

TYPES = (
    "application/json",
    "application/json; charset=utf-16",
    "application/json; charset=nonsense",
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=nonsense",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=" + "b" * 500,
    "multipart/form-data; boundary=\xff",
    "text/plain",
    "application/xml",
    "",
    "/",
    "application/json" * 500,
    "\xff",
)

HEADERS = (
    {"Accept": "\xff"},
    {"Accept": "text/html;q=nonsense"},
    {"Accept": "image/png"},
    {"Accept": "*/*;" * 500},
    {"Accept-Language": "\xff, xx-" + "y" * 500},
    {"Accept-Encoding": "\0"},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer \xff"},
    {"Authorization": "Basic " + "=" * 999},
    {"Authorization": "Digest a=b"},
    {"Content-Encoding": "gzip"},
    {"Cookie": "sessionid=\xff; csrftoken=\xff"},
    {"Cookie": "sessionid=" + "a" * 5000},
    {"Cookie": ";;;===\0"},
    {"Host": "evil.example"},
    {"Host": "a b"},
    {"Host": "[::1"},
    {"Host": "127.0.0.1:99999999"},
    {"Host": ""},
    {"If-Modified-Since": "yesterday"},
    {"If-None-Match": '*, \xff, W/"' + "a" * 5000},
    {"Origin": "null"},
    {"Range": "bytes=0-0,-1,5-2"},
    {"Referer": "\xff\0"},
    {"Stripe-Signature": "t=1,v1=" + "a" * 5000},
    {"Stripe-Signature": "t=99999999999999999999999,v1=a"},
    {"Stripe-Signature": "t=-1,v1=\xff"},
    {"Stripe-Signature": "t=nan,v1=a,v0=b,,,="},
    {"Transfer-Encoding": "chunked"},
    {"X-Forwarded-For": "', \xff, 999.999.999.999"},
    {"X-Forwarded-Host": "evil.example"},
    {"X-Forwarded-Proto": "javascript"},
    {"X-HTTP-Method-Override": "DELETE"},
)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW")
