"""The fast lane and Django's own view: the same bytes for a hit, and Django for all else."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

from tests.verdicts.asking import Answer, Counting, answer, question
from tests.verdicts.stripe_objects import charge_object
from verdicts import fastlane
from verdicts.fastlane import Fastlane
from verdicts.gateways.stripe_api import Event
from verdicts.models import CachedVerdict
from verdicts.ready_made import open_reader
from verdicts.services.evict import evict
from verdicts.services.hits import hits
from verdicts.services.payments import receive

# What is not committed, the fast lane's own connection does not see.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def passed_on() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def lane(passed_on):
    """The fast lane before a Django that notes whatever reaches it."""

    def noted(environ, start_response):
        passed_on.append(environ)
        return WSGIHandler()(environ, start_response)  # made late: it keeps what is set then

    made = Fastlane(noted)
    yield made
    made.close()


@pytest.fixture
def both(lane, passed_on):
    """The answer that the fast lane and Django agree on; the fast lane gave it by itself."""

    def ask(session_id: str, **changes: str) -> Answer:
        own = answer(lane, question(session_id, **changes))
        assert passed_on == []
        assert own == answer(WSGIHandler(), question(session_id, **changes))
        return own

    return ask


def test_a_hit_is_byte_for_byte_what_django_answers(both, delivered):
    order = delivered("full", query="Crème brûlée in Zürich 🍮?")
    status, headers, body = both(order.session_id)
    assert (status, dict(headers)["Content-Type"]) == ("200 OK", "application/json")
    assert body.decode() == CachedVerdict.objects.get().body
    both(order.session_id, HTTP_ACCEPT="*/*")
    both(order.session_id, HTTP_ACCEPT="application/json", HTTP_HOST="localhost:8000")
    both(order.session_id, CONTENT_TYPE="application/json")
    both(order.session_id, HTTP_USER_AGENT="\xff\x00", HTTP_ORIGIN="https://elsewhere.example")


def test_who_has_it_already_is_told_so_with_the_same_headers(both, delivered):
    order = delivered("quick")
    etag = CachedVerdict.objects.get().etag
    for had in (etag, f'W/{etag}, "other"', "*"):
        assert both(order.session_id, HTTP_IF_NONE_MATCH=had)[0] == "304 Not Modified"
    for had in ('"other"', "nonsense"):
        assert both(order.session_id, HTTP_IF_NONE_MATCH=had)[0] == "200 OK"


def test_over_https_the_headers_are_those_of_https(both, delivered, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    order = delivered("quick")
    for said in ("https", "https, http"):
        _, headers, _ = both(order.session_id, HTTP_X_FORWARDED_PROTO=said)
        assert dict(headers)["Strict-Transport-Security"].startswith("max-age=3600")


@pytest.mark.parametrize(
    ("server", "proxy"),
    [("http", "https"), ("https", "http"), ("https", "http, https"), ("https", ""), ("http", "")],
)
@pytest.mark.parametrize("believed", [True, False])
def test_who_came_by_https_is_whom_django_takes_for_it(
    both, delivered, settings, server, proxy, believed
):
    settings.SECURE_HSTS_SECONDS = 3600
    header = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_PROXY_SSL_HEADER = header if believed else None
    order = delivered("quick")
    changes = {"HTTP_X_FORWARDED_PROTO": proxy} if proxy else {}
    _, headers, _ = both(order.session_id, **{"wsgi.url_scheme": server}, **changes)
    word = proxy.split(",")[0] if proxy and believed else server
    assert ("Strict-Transport-Security" in dict(headers)) == (word == "https")


def test_without_https_django_redirects(lane, passed_on, delivered, settings):
    settings.SECURE_SSL_REDIRECT = True
    order = delivered("quick")
    assert answer(lane, question(order.session_id))[0] == "301 Moved Permanently"
    assert len(passed_on) == 1


def test_a_refund_and_a_comparison_show_at_once(both, delivered, missed, ask, run_jobs, sandbox):
    refunded = delivered("quick")
    both(refunded.session_id)
    charge = charge_object(payment_intent=refunded.payment_intent)
    receive(Event("evt_1", "charge.refunded", charge))
    assert b"refunded_at" in both(refunded.session_id)[2]

    diverged = missed("quick", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(diverged.session_id)
    assert b'"pending"' in both(diverged.session_id)[2]
    run_jobs()
    assert b'"significant"' in both(diverged.session_id)[2]


def gone_by_eviction(entries, order):
    evict(order, who="ada", reason="a test")


def expired(entries, order):
    entries.update(expires_at=int(time.time()))


def never_approved(entries, order):
    entries.update(approved=False)


@pytest.mark.parametrize("lose", [gone_by_eviction, expired, never_approved])
def test_what_the_cache_has_lost_goes_on_to_django(lane, passed_on, delivered, lose):
    order = delivered("quick")
    assert answer(lane, question(order.session_id))[0] == "200 OK"
    assert passed_on == []
    lose(CachedVerdict.objects.filter(session_id=order.session_id), order)
    _, _, body = answer(lane, question(order.session_id))
    assert len(passed_on) == 1
    assert b'"regen":true' in body


def test_an_entry_is_served_until_its_second_has_come(both, delivered):
    order = delivered("quick")
    CachedVerdict.objects.update(expires_at=int(time.time()) + 3600)
    both(order.session_id)


@pytest.mark.parametrize(
    "changes",
    [
        {"QUERY_STRING": "session_id=cs_test_unknown0000"},
        {"QUERY_STRING": "session_id="},
        {"QUERY_STRING": "{asked}&"},
        {"QUERY_STRING": "{asked}&x=1"},
        {"QUERY_STRING": "x=1&{asked}"},
        {"QUERY_STRING": "{asked}&{asked}"},
        {"QUERY_STRING": "{asked}%0A"},
        {"QUERY_STRING": "{asked}\n"},
        {"QUERY_STRING": "SESSION_ID={id}"},
        {"QUERY_STRING": "session_id=%63{rest}"},
        {"QUERY_STRING": "session_id=cs_test_é0000000"},
        {"PATH_INFO": "/api/verdict/"},
        {"PATH_INFO": "//api/verdict"},
        {"REQUEST_METHOD": "HEAD"},
        {"REQUEST_METHOD": "OPTIONS"},
        {"REQUEST_METHOD": "POST"},
        {"REQUEST_METHOD": "get"},
        {"HTTP_ACCEPT": "text/html"},
        {"HTTP_ACCEPT": "application/json;q=0"},
        {"HTTP_COOKIE": "sessionid=x"},
        {"HTTP_HOST": "elsewhere.example"},
        {"HTTP_HOST": "127.0.0.1:80:80"},
        {"CONTENT_LENGTH": "-1"},
        {"CONTENT_LENGTH": "abc"},
        {"CONTENT_LENGTH": "5"},
        {"CONTENT_TYPE": "application/json; charset=utf-16"},
        {"HTTP_TRANSFER_ENCODING": "chunked"},
        {"SCRIPT_NAME": "/under"},
    ],
    ids=str,
)
def test_any_other_question_is_djangos(lane, passed_on, delivered, changes):
    order = delivered("quick")
    known = {
        "asked": f"session_id={order.session_id}",
        "id": order.session_id,
        "rest": order.session_id[1:],
    }
    asked = {key: value.format(**known) for key, value in changes.items()}
    own = answer(lane, question(order.session_id, **asked))
    assert len(passed_on) == 1
    assert own == answer(WSGIHandler(), question(order.session_id, **asked))


def test_each_hit_is_counted_once(lane, delivered):
    order = delivered("quick")
    hits.flush()
    order.refresh_from_db()
    before = order.hits
    etag = CachedVerdict.objects.get().etag
    answer(lane, question(order.session_id))
    answer(lane, question(order.session_id, HTTP_IF_NONE_MATCH=etag))
    assert hits.flush() == 2
    order.refresh_from_db()
    assert order.hits == before + 2


class Broken:
    def find(self, _session_ids: list[str]) -> None:
        raise OSError("gone")

    def close(self) -> None:
        pass


def test_a_database_that_fails_is_left_to_django_for_a_moment(
    lane, passed_on, delivered, monkeypatch
):
    order = delivered("quick")
    opened = []
    with monkeypatch.context() as broken:
        broken.setattr(fastlane, "open_reader", lambda: opened.append(1) or Broken())
        for _ in range(3):
            assert answer(lane, question(order.session_id))[0] == "200 OK"
    assert (len(passed_on), len(opened)) == (3, 1)
    answer(lane, question(order.session_id))
    assert len(passed_on) == 4  # still resting
    monkeypatch.setattr(fastlane.time, "monotonic", lambda now=time.monotonic: now() + 2)
    answer(lane, question(order.session_id))
    assert len(passed_on) == 4


def test_many_at_once_get_each_their_own(lane, passed_on, delivered):
    orders = [delivered("quick") for _ in range(4)]
    bodies = {one.session_id: one.body for one in CachedVerdict.objects.all()}

    def read(number: int) -> bool:
        session_id = orders[number % 4].session_id
        return answer(lane, question(session_id))[2].decode() == bodies[session_id]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(400)))
    assert passed_on == []


def test_who_asks_together_shares_a_read_and_gets_each_their_own(lane, delivered, monkeypatch):
    first, second, lost = (delivered("quick") for _ in range(3))
    expired(CachedVerdict.objects.filter(session_id=lost.session_id), lost)
    etag = CachedVerdict.objects.get(session_id=second.session_id).etag
    asked = [
        question(first.session_id),
        question("cs_test_unknown0000"),
        question(second.session_id, HTTP_IF_NONE_MATCH=etag),
        question(lost.session_id),
        question(second.session_id),
        question(first.session_id),
    ]
    opened, looked = fastlane.open_reader, []
    monkeypatch.setattr(fastlane, "open_reader", lambda: Counting(opened(), looked))
    hits.flush()
    answers = lane.answers([lane.question(one) for one in asked])
    assert len(looked) == 1
    assert hits.flush() == 4
    for one, given in zip(asked, answers, strict=True):
        if one["QUERY_STRING"].endswith((lost.session_id, "unknown0000")):
            assert given is None
            continue
        status, headers, body = answer(WSGIHandler(), one)
        assert given == (int(status[:3]), headers, body)


def test_a_connection_that_was_cut_is_opened_anew(lane, passed_on, delivered, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server to cut it")
    monkeypatch.setattr(fastlane, "REST", 0.0)
    order = delivered("quick")
    answer(lane, question(order.session_id))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    for _ in range(2):
        assert answer(lane, question(order.session_id))[0] == "200 OK"
    assert len(passed_on) == 1


def raising(*_: object) -> None:
    raise RuntimeError("not just now")


@pytest.mark.parametrize("part", ["resolve", "has_it"])
def test_an_answer_that_cannot_be_made_is_djangos_and_counted_once(
    lane, passed_on, delivered, monkeypatch, part
):
    """Whether Django's sample is a 500 or the fast lane itself fails: neither is served or kept."""
    monkeypatch.setattr(fastlane, "REST", 0.0)
    order = delivered("quick")
    hits.flush()
    with monkeypatch.context() as broken:
        broken.setattr(fastlane, part, raising)
        asked = question(order.session_id, HTTP_IF_NONE_MATCH='"other"')
        assert answer(lane, asked)[0] == "200 OK"
    assert (len(passed_on), hits.flush()) == (1, 1)
    assert answer(lane, question(order.session_id))[0] == "200 OK"
    assert len(passed_on) == 1


def test_an_answer_that_cannot_be_made_is_not_tried_for_all_who_asked_together(
    lane, delivered, monkeypatch
):
    tried = []
    monkeypatch.setattr(fastlane, "resolve", lambda *_: tried.append(1) or raising())
    asked = lane.question(question(delivered("quick").session_id))
    assert lane.answers([asked] * 3) == [None] * 3
    assert tried == [1]


def test_the_options_of_the_database_are_its_options_here_too(delivered, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's are not of that kind")
    order = delivered("quick")
    options = connection.settings_dict["OPTIONS"]

    def found(path: str) -> object:
        changed = {**options, "options": f"-c search_path={path}"}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", changed)
        with closing(open_reader()) as reader:
            return reader.find([order.session_id])

    assert found("public")
    with pytest.raises(psycopg.OperationalError, match="verdicts_cachedverdict"):
        found("elsewhere")


def test_two_sessions_of_one_number_never_get_each_others_answer(
    delivered, lane, passed_on, monkeypatch
):
    """Which is as good as impossible: then the later one is cached, and the other made again."""
    for place in ("ready_made_sqlite", "ready_made_postgresql", "session_number"):
        monkeypatch.setattr(f"verdicts.{place}.session_number", lambda _session_id: 42)
    first, second = delivered("quick"), delivered("quick")
    assert CachedVerdict.objects.get().session_id == second.session_id
    status, _, body = answer(lane, question(second.session_id))
    assert (status, passed_on) == ("200 OK", [])
    assert answer(lane, question(first.session_id))[2] != body
    assert len(passed_on) == 1
    cached = CachedVerdict.objects.get().session_id
    asked = [lane.question(question(one.session_id)) for one in (first, second)]
    there = [one is not None for one in lane.answers(asked)]
    assert there == [first.session_id == cached, second.session_id == cached]
