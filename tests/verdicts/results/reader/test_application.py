"""The reader and Django's own view: the same bytes for a hit, and 404 for everything else."""

import time
from contextlib import closing

import psycopg
import pytest
from django.db import connection

from tests.support.reader_requests import Answer, Asked, Counting, ask_django, ask_reader
from tests.support.stripe_objects import charge_object
from verdicts.models import CachedVerdict
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.results.cache import evict
from verdicts.results.read_counter import hits
from verdicts.results.reader import application
from verdicts.results.reader.application import Reader
from verdicts.results.reader.lookup import open_lookup

# The reader's own connection sees committed data only.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NOT_HERE = [(404, [], b"")]


@pytest.fixture(params=[False, True], ids=["one by one", "batched"])
def make_reader(request):
    """A reader with the current settings; closed at the end of the test."""
    made: list[Reader] = []

    def make(opens=open_lookup) -> Reader:
        made.append(Reader(opens, batched=request.param))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def both(make_reader):
    """The answer, which must be the same from the reader and from Django."""

    def ask(asked: Asked) -> Answer:
        (own,) = ask_reader(make_reader(), asked)
        assert own == ask_django(asked)
        return own

    return ask


def test_a_hit_is_byte_for_byte_what_django_answers(both, delivered):
    order = delivered("full", query="Crème brûlée in Zürich 🍮?")
    asked = Asked(order.session_id)
    status, headers, body = both(asked)
    assert (status, dict(headers)["content-type"]) == (200, "application/json")
    assert body.decode() == CachedVerdict.objects.get().body
    both(asked.and_(("accept", "*/*")))
    both(asked.and_(("accept", "application/json"), ("host", "localhost:8000")))
    both(asked.and_(("content-type", "application/json")))
    both(asked.and_(("user-agent", "\x00"), ("origin", "https://elsewhere.example")))


def test_a_matching_etag_gets_304_with_the_same_headers(both, delivered):
    order = delivered("quick")
    etag = CachedVerdict.objects.get().etag
    for had in (etag, f'W/{etag}, "other"', "*"):
        assert both(Asked(order.session_id).and_(("if-none-match", had)))[0] == 304
    for had in ('"other"', "nonsense"):
        assert both(Asked(order.session_id).and_(("if-none-match", had)))[0] == 200


def test_over_https_the_headers_are_those_of_https(both, delivered, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    order = delivered("quick")
    for value in ("https", "https, http"):
        _, headers, _ = both(Asked(order.session_id).and_(("x-forwarded-proto", value)))
        assert dict(headers)["strict-transport-security"].startswith("max-age=3600")


@pytest.mark.parametrize(
    ("server", "proxy"),
    [("http", "https"), ("https", "http"), ("https", "http, https"), ("https", ""), ("http", "")],
)
@pytest.mark.parametrize("trusted", [True, False])
def test_https_is_detected_as_django_detects_it(both, delivered, settings, server, proxy, trusted):
    settings.SECURE_HSTS_SECONDS = 3600
    header = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_PROXY_SSL_HEADER = header if trusted else None
    asked = Asked(delivered("quick").session_id, scheme=server)
    _, headers, _ = both(asked.and_(("x-forwarded-proto", proxy)) if proxy else asked)
    word = proxy.split(",")[0] if proxy and trusted else server
    assert ("strict-transport-security" in dict(headers)) == (word == "https")


def test_a_header_with_underscores_is_not_the_one_with_hyphens(make_reader, delivered, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    asked = Asked(delivered("quick").session_id).and_(("x_forwarded_proto", "https"))
    assert ask_reader(make_reader(), asked) == NOT_HERE


def test_a_refund_and_a_comparison_show_at_once(both, delivered, missed, ask, run_jobs, sandbox):
    refunded = delivered("quick")
    both(Asked(refunded.session_id))
    charge = charge_object(payment_intent=refunded.payment_intent)
    receive(Event("evt_1", "charge.refunded", charge))
    assert b"refunded_at" in both(Asked(refunded.session_id))[2]

    diverged = missed("quick", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(diverged.session_id)
    assert b'"pending"' in both(Asked(diverged.session_id))[2]
    run_jobs()
    assert b'"significant"' in both(Asked(diverged.session_id))[2]


def gone_by_eviction(entries, order):
    evict(order, who="ada", reason="a test")


def expired(entries, order):
    entries.update(expires_at=int(time.time()))


def never_approved(entries, order):
    entries.update(approved=False)


@pytest.mark.parametrize("lose", [gone_by_eviction, expired, never_approved])
def test_a_cache_miss_is_left_to_django(make_reader, delivered, lose):
    order, reader = delivered("quick"), make_reader()
    assert ask_reader(reader, Asked(order.session_id))[0][0] == 200
    lose(CachedVerdict.objects.filter(session_id=order.session_id), order)
    assert ask_reader(reader, Asked(order.session_id)) == NOT_HERE


def test_an_entry_is_served_until_it_expires(both, delivered):
    order = delivered("quick")
    CachedVerdict.objects.update(expires_at=int(time.time()) + 3600)
    both(Asked(order.session_id))


@pytest.mark.parametrize(
    "changes",
    [
        {"query_string": "session_id=cs_test_unknown0000"},
        {"query_string": "session_id="},
        {"query_string": "{asked}&"},
        {"query_string": "{asked}&x=1"},
        {"query_string": "x=1&{asked}"},
        {"query_string": "{asked}&{asked}"},
        {"query_string": "{asked}%0A"},
        {"query_string": "{asked}\n"},
        {"query_string": "SESSION_ID={id}"},
        {"query_string": "session_id=%63{rest}"},
        {"query_string": "session_id=cs_test_é0000000"},
        {"path": "/api/verdict/"},
        {"path": "//api/verdict"},
        {"method": "HEAD"},
        {"method": "OPTIONS"},
        {"method": "POST"},
        {"method": "get"},
        {"accept": "text/html"},
        {"accept": "application/json;q=0"},
        {"cookie": "sessionid=x"},
        {"host": "elsewhere.example"},
        {"host": "127.0.0.1:80:80"},
        {"content-length": "-1"},
        {"content-length": "abc"},
        {"content-length": "5"},
        {"content-type": "application/json; charset=utf-16"},
        {"transfer-encoding": "chunked"},
        {"user-agent": "\xff"},
    ],
    ids=str,
)
def test_any_other_request_is_left_to_django(make_reader, delivered, changes):
    order = delivered("quick")
    known = {
        "asked": f"session_id={order.session_id}",
        "id": order.session_id,
        "rest": order.session_id[1:],
    }
    filled = {key: value.format(**known) for key, value in changes.items()}
    own = {key: value for key, value in filled.items() if key in Asked.__dataclass_fields__}
    more = [(key, value) for key, value in filled.items() if key not in own]
    assert ask_reader(make_reader(), Asked(order.session_id, **own).and_(*more)) == NOT_HERE


def test_a_duplicate_header_is_left_to_django(make_reader, delivered):
    asked = Asked(delivered("quick").session_id)
    twice = asked.and_(("host", "127.0.0.1"), ("host", "elsewhere.example"))
    hidden = asked.and_(("x-a", "1"), ("x-a", "2"), ("x-b", "\xff"))  # as many items as names
    assert ask_reader(make_reader(), twice, hidden) == NOT_HERE * 2


def test_each_hit_is_counted_once(make_reader, delivered):
    order = delivered("quick")
    hits.flush()
    order.refresh_from_db()
    before = order.hits
    etag = CachedVerdict.objects.get().etag
    asked = Asked(order.session_id)
    ask_reader(make_reader(), asked, asked.and_(("if-none-match", etag)), asked)
    order.refresh_from_db()  # closing the reader has written them
    assert order.hits == before + 3


class Broken:
    def find(self, _session_ids: list[str]) -> None:
        raise OSError("gone")

    def close(self) -> None:
        pass


def test_after_a_database_error_reads_pause(make_reader, delivered, monkeypatch):
    asked = Asked(delivered("quick").session_id)
    lookups = [open_lookup(), Broken()]
    reader = make_reader(lookups.pop)
    for _ in range(3):
        assert ask_reader(reader, asked) == NOT_HERE
    assert len(lookups) == 1  # the others came during the cooldown
    monkeypatch.setattr(application.time, "monotonic", lambda now=time.monotonic: now() + 2)
    assert ask_reader(reader, asked)[0][0] == 200


def test_concurrent_requests_get_their_own_answers(make_reader, delivered):
    orders = [delivered("quick") for _ in range(4)]
    bodies = {one.session_id: one.body for one in CachedVerdict.objects.all()}
    asked = [Asked(orders[number % 4].session_id) for number in range(200)]
    for one, (status, _, body) in zip(asked, ask_reader(make_reader(), *asked), strict=True):
        assert (status, body.decode()) == (200, bodies[one.session_id])


def test_hits_and_misses_in_one_batch_get_their_own_answers(delivered):
    first, second, lost = (delivered("quick") for _ in range(3))
    expired(CachedVerdict.objects.filter(session_id=lost.session_id), lost)
    etag = CachedVerdict.objects.get(session_id=second.session_id).etag
    asked = [
        Asked(first.session_id),
        Asked("cs_test_unknown0000"),
        Asked(second.session_id).and_(("if-none-match", etag)),
        Asked(lost.session_id),
        Asked(second.session_id),
        Asked(first.session_id),
    ]
    lookup = Counting()
    with closing(Reader(lambda: lookup, batched=True)) as reader:
        answers = ask_reader(reader, *asked)
    assert [one for query in lookup.queries for one in query] == [one.session_id for one in asked]
    assert len(lookup.queries) < len(asked)
    for one, given in zip(asked, answers, strict=True):
        missing = one.session_id in (lost.session_id, "cs_test_unknown0000")
        assert given == (NOT_HERE[0] if missing else ask_django(one))


def test_a_lost_connection_is_reopened(make_reader, delivered, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server to cut it")
    monkeypatch.setattr(application, "COOLDOWN", 0.0)
    asked, reader = Asked(delivered("quick").session_id), make_reader()
    assert ask_reader(reader, asked)[0][0] == 200
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert ask_reader(reader, asked) == NOT_HERE
    assert ask_reader(reader, asked)[0][0] == 200


def test_a_database_that_stops_answering_blocks_no_request(make_reader, delivered, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server that could stop")
    monkeypatch.setattr("verdicts.results.reader.lookup_postgresql.READ_TIMEOUT", 0.3)
    asked = Asked(delivered("quick").session_id)
    with connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE verdicts_cachedverdict")
        assert ask_reader(make_reader(), asked) == NOT_HERE
        cursor.execute("COMMIT")


def raising(*_: object) -> None:
    raise RuntimeError("not just now")


def test_a_response_that_cannot_be_built_is_left_to_django_and_not_counted(
    make_reader, delivered, monkeypatch
):
    order, reader = delivered("quick"), make_reader()
    hits.flush()
    asked = Asked(order.session_id).and_(("if-none-match", '"other"'))
    with monkeypatch.context() as broken:
        broken.setattr("verdicts.results.reader.responses.etag_matches", raising)
        assert ask_reader(reader, asked) == NOT_HERE
    assert hits.flush() == 0
    assert ask_reader(reader, asked)[0][0] == 200


def test_the_reader_refuses_to_start_if_django_answers_differently(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.ALLOWED_HOSTS = ["elsewhere.example"]
    with pytest.raises(Exception, match="400"):
        Reader(open_lookup, batched=False)


def test_the_reader_uses_the_database_options_of_django(delivered, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's are not of that kind")
    order = delivered("quick")
    options = connection.settings_dict["OPTIONS"]

    def found(path: str) -> object:
        changed = {**options, "options": f"-c search_path={path}"}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", changed)
        with closing(open_lookup()) as lookup:
            return lookup.find([order.session_id])

    assert found("public")
    with pytest.raises(psycopg.OperationalError, match="verdicts_cachedverdict"):
        found("elsewhere")


def test_sessions_with_equal_numbers_never_share_an_answer(delivered, make_reader, monkeypatch):
    """Practically impossible; the later session is cached then, and the other one is a miss."""
    for module in (
        "results.reader.lookup_sqlite",
        "results.reader.lookup_postgresql",
        "models.session_number",
    ):
        monkeypatch.setattr(f"verdicts.{module}.session_number", lambda _session_id: 42)
    first, second = delivered("quick"), delivered("quick")
    assert CachedVerdict.objects.get().session_id == second.session_id
    answers = ask_reader(make_reader(), Asked(first.session_id), Asked(second.session_id))
    assert [status for status, _, _ in answers] == [404, 200]
