"""A job says in the service log whose it is, also when it fails; the next job is another's."""

import logging

import pytest
from django_q.exceptions import TimeoutException

from audit.core.redaction import short_hash
from tests.support.service_log import listening
from verdicts import tasks
from verdicts.models import Delivery, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def sessions(lines: list) -> list[str | None]:
    return [line.get("session") for line in lines]


def test_each_job_is_about_its_own_order_and_the_next_about_its(sandbox, paid_order):
    first, second = paid_order(), paid_order()
    sandbox.fault("gemini", "unavailable", times=None)
    with listening() as lines:
        tasks.fulfil_order(first.pk)
        tasks.fulfil_order(second.pk)
        logging.getLogger("elsewhere").warning("between two jobs")
    assert sessions(lines) == [short_hash(first.session_id), short_hash(second.session_id), None]


def test_an_email_is_about_its_order(sandbox, paid_order):
    order = paid_order()
    tasks.fulfil_order(order.pk)
    sandbox.fault("graph", "error", times=None)
    with listening() as lines:
        assert tasks.deliver(Delivery.objects.get(order=order).pk) == "not sent"
    assert sessions(lines) == [short_hash(order.session_id)]


def test_a_job_that_fails_tells_it_once_with_its_session(missed, ask, monkeypatch):
    order = missed()
    ask(order.session_id)
    regen = Verdict.objects.get(order=order, kind="regen")
    text = "the customer's own words"

    def fail(_: object) -> None:
        raise ValueError(text)

    monkeypatch.setattr("verdicts.results.compare.recover", fail)
    with listening() as lines, pytest.raises(tasks.JobFailed) as failed:
        tasks.compare(regen.pk)
    (line,) = lines
    assert (line["message"], line["session"]) == ("compare failed", short_hash(order.session_id))
    assert "ValueError: (left out" in line["error"]
    assert "recover" in line["error"]  # where it was
    # What the queue keeps and would tell again has neither the words nor their origin.
    assert str(failed.value) == "ValueError"
    assert failed.value.__suppress_context__


def test_what_a_job_has_told_the_queue_does_not_tell_again():
    told = "Failed 'verdicts.tasks.compare' (compare) - ... verdicts.tasks.JobFailed: ValueError"
    with listening() as lines:
        logging.getLogger("django-q").error(told)
        logging.getLogger("django-q").error("Failed 'verdicts.tasks.gone' - is not defined")
    assert [line["message"] for line in lines] == ["Failed 'verdicts.tasks.gone' - is not defined"]


def test_a_job_for_something_that_is_gone_is_about_nobody():
    with listening() as lines, pytest.raises(tasks.JobFailed):
        tasks.deliver(4711)
    assert [(line["message"], line.get("session")) for line in lines] == [("deliver failed", None)]


def test_a_job_that_takes_too_long_is_told_and_ends_its_worker(paid_order, monkeypatch):
    order = paid_order()

    def hang(*_: object, **__: object) -> None:
        raise TimeoutException

    monkeypatch.setattr("verdicts.tasks.fulfilling.fulfil", hang)
    with listening() as lines, pytest.raises(TimeoutException):
        tasks.fulfil_order(order.pk)
    (line,) = lines
    assert line["message"] == "fulfil_order took too long"
    assert line["session"] == short_hash(order.session_id)
