"""`/cache/{session_id}`: hits, misses, and writes that must pass the gate."""

import json

import pytest
from django.db import connection

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from tests.support.verdict_payloads import complete
from verdicts.models import CachedVerdict, Order, Status, Verdict

pytestmark = pytest.mark.django_db
TOKEN = {"authorization": "Bearer sandbox-service-token"}


@pytest.fixture
def read(client):
    return lambda session_id: client.get(f"/cache/{session_id}", headers=TOKEN)


@pytest.fixture
def write(client):
    def post(session_id: str, **body):
        path = f"/cache/{session_id}"
        return client.post(path, body, content_type="application/json", headers=TOKEN)

    return post


def test_a_hit_is_what_the_reader_gets(read, ask, delivered):
    order = delivered("full")
    assert read(order.session_id).content == ask(order.session_id).content


def test_a_miss_is_404_and_generates_nothing(read, sandbox, missed):
    order = missed("full")
    answer = read(order.session_id)
    assert (answer.status_code, answer.json()["type"]) == (404, "miss")
    assert sandbox.requests() == []


def test_an_expired_entry_is_a_miss(read, delivered):
    order = delivered("full")
    CachedVerdict.objects.update(expires_at=1)
    assert read(order.session_id).status_code == 404


def test_a_payload_that_passes_the_gate_is_cached_and_compared(
    read, write, ask, missed, run_jobs, sandbox
):
    order = missed("full", "GREEN")
    answer = write(
        order.session_id, tier="full", query=order.query, verdict=complete("full", "RED")
    )
    assert answer.status_code == 201
    assert answer.json()["regen"] is True
    assert answer.json()["divergence"]["emailed_verdict"] == "GREEN"
    assert read(order.session_id).content == ask(order.session_id).content == answer.content
    run_jobs()
    event = DivergenceEvent.objects.get()
    assert (event.level, event.causes) == ("significant", ["unknown"])
    assert ModelCall.objects.count() == 1  # the original's
    assert sandbox.requests("gemini") == []


def test_a_payload_that_the_gate_rejects_is_only_logged(read, write, missed):
    order = missed("full")
    bad = complete("full", "GREEN")
    bad["summary"] = ""
    bad["breakdown"] = {name: {"verdict": "RED", "analysis": ""} for name in bad["breakdown"]}
    answer = write(order.session_id, tier="full", verdict=bad)
    assert (answer.status_code, answer.json()["type"]) == (422, "rejected")
    assert read(order.session_id).status_code == 404
    assert not CrosscheckLog.objects.get(kind="regen").approved
    assert not Verdict.objects.filter(kind="regen").exists()


@pytest.mark.parametrize("number", ["NaN", "1e999", '"\\ud800"', '"\\u0000"'])
def test_text_that_no_database_takes_is_rejected_without_an_error(client, missed, number):
    order = missed("quick")
    verdict = json.dumps(complete("quick"))[:-1] + f', "extra": {number}}}'
    body = f'{{"tier": "quick", "verdict": {verdict}}}'
    path = f"/cache/{order.session_id}"
    answer = client.post(path, body, content_type="application/json", headers=TOKEN)
    assert (answer.status_code, answer.json()["type"]) == (422, "rejected")


def test_another_tier_or_query_is_a_conflict(write, delivered):
    order = delivered("full")
    for body in (
        {"tier": "quick", "verdict": complete("quick")},
        {"tier": "full", "verdict": complete("full"), "query": "Something else?"},
    ):
        answer = write(order.session_id, **body)
        assert (answer.status_code, answer.json()["type"]) == (409, "conflict")
    assert CrosscheckLog.objects.count() == 1


@pytest.mark.parametrize("status", [Status.PAID, Status.REJECTED, Status.HELD])
def test_only_delivered_orders_can_be_cached(write, paid_order, status):
    order = paid_order("quick")
    Order.objects.update(status=status)
    assert write(order.session_id, tier="quick", verdict=complete("quick")).status_code == 409
    assert not CachedVerdict.objects.exists()


def test_unknown_erased_and_malformed(write, read, paid_order):
    body = {"tier": "quick", "verdict": complete("quick")}
    assert write("cs_test_nobodyKnows1", **body).status_code == 404
    assert write("nonsense", **body).status_code == 400
    assert read("nonsense").status_code == 400
    order = paid_order("quick")
    Order.objects.update(status=Status.ERASED)
    assert write(order.session_id, **body).status_code == 410


@pytest.mark.parametrize(
    "body",
    [{}, {"tier": "quick"}, {"tier": "quick", "verdict": "GREEN"}, {"query": ""}, {"query": 5}],
)
def test_an_invalid_body_gets_field_errors(write, delivered, body):
    answer = write(delivered("quick").session_id, **body)
    assert answer.status_code == 400
    assert answer.json()["errors"]


def test_the_same_verdict_posted_again_is_one_regeneration_and_one_notice(
    write, missed, run_jobs, sandbox
):
    order = missed("full", "GREEN")
    for _ in range(2):
        answer = write(order.session_id, tier="full", verdict=complete("full", "RED"))
        assert answer.status_code == 201
        run_jobs()
    assert Verdict.objects.filter(kind="regen").count() == 1
    assert len(sandbox.messages(to="buyer@example.com")) == 2  # the verdict and one notice


def test_the_original_posted_back_is_the_original(read, write, delivered):
    order = delivered("full")
    before = read(order.session_id)
    CachedVerdict.objects.all().delete()
    after = write(order.session_id, **before.json())
    assert (after.status_code, after.content) == (201, before.content)


@pytest.mark.parametrize("header", [{"if-none-match": "*"}, {"if-match": '"x"'}])
def test_a_precondition_changes_nothing_about_a_write(client, missed, header):
    order = missed("quick")
    answer = client.post(
        f"/cache/{order.session_id}",
        {"tier": "quick", "verdict": complete("quick")},
        content_type="application/json",
        headers={**TOKEN, **header},
    )
    assert (answer.status_code, answer["Content-Type"]) == (201, "application/json")
    assert answer.json()["tier"] == "quick"


def test_a_duplicate_key_is_refused(client, missed):
    order = missed("quick")
    verdict = json.dumps(complete("quick"))
    twice = verdict[:-1] + ', "verdict": "RED"}'
    body = f'{{"tier": "quick", "verdict": {twice}}}'
    path = f"/cache/{order.session_id}"
    answer = client.post(path, body, content_type="application/json", headers=TOKEN)
    assert answer.status_code == 400
    assert not CachedVerdict.objects.exists()


def test_a_database_that_is_down_is_503(read, delivered):
    order = delivered("quick")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE verdicts_cachedverdict RENAME TO gone")
    answer = read(order.session_id)
    assert (answer.status_code, answer.json()["type"]) == (503, "try-later")
    assert answer["Retry-After"]


def test_a_body_deeper_than_a_hundred_levels_is_refused(client, delivered):
    """A stored body is parsed again later, with more frames on the stack."""
    order = delivered("quick")
    answers = []
    for depth in (98, 99, 900, 5_000):  # below two levels of the body
        odd = json.dumps({"tier": "quick", "verdict": {**complete("quick"), "more": "?"}})
        body = odd.replace('"?"', "[" * depth + "]" * depth)
        path = f"/cache/{order.session_id}"
        answer = client.post(path, body, content_type="application/json", headers=TOKEN)
        answers.append(answer.status_code)
    assert answers == [201, 400, 400, 400]
