"""Log lines of a job carry the hash of its session, also when it fails, and only its own."""

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


def test_lines_of_each_job_have_the_session_of_its_own_order(sandbox, paid_order):
    first, second = paid_order(), paid_order()
    sandbox.fault("gemini", "unavailable", times=None)
    with listening() as lines:
        tasks.fulfil_order(first.pk)
        tasks.fulfil_order(second.pk)
        logging.getLogger("elsewhere").warning("between two jobs")
    assert sessions(lines) == [short_hash(first.session_id), short_hash(second.session_id), None]


def test_lines_of_an_email_have_the_session_of_its_order(sandbox, paid_order):
    order = paid_order()
    tasks.fulfil_order(order.pk)
    sandbox.fault("graph", "error", times=None)
    with listening() as lines:
        assert tasks.deliver(Delivery.objects.get(order=order).pk) == "not sent"
    assert sessions(lines) == [short_hash(order.session_id)]


def test_a_failed_job_is_logged_once_with_its_session(missed, ask, monkeypatch):
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
    assert "recover" in line["error"]  # the function that raised it
    # The exception that the queue stores and logs has neither the text nor its cause.
    assert str(failed.value) == "ValueError"
    assert failed.value.__suppress_context__


def test_the_queue_does_not_log_a_failed_job_a_second_time():
    message = "Failed 'verdicts.tasks.compare' (compare) - ... verdicts.tasks.JobFailed: ValueError"
    with listening() as lines:
        logging.getLogger("django-q").error(message)
        logging.getLogger("django-q").error("Failed 'verdicts.tasks.gone' - is not defined")
    assert [line["message"] for line in lines] == ["Failed 'verdicts.tasks.gone' - is not defined"]


def test_the_line_of_a_job_for_a_deleted_row_has_no_session():
    with listening() as lines, pytest.raises(tasks.JobFailed):
        tasks.deliver(4711)
    assert [(line["message"], line.get("session")) for line in lines] == [("deliver failed", None)]


def test_a_job_that_times_out_is_logged_and_ends_its_worker(paid_order, monkeypatch):
    order = paid_order()

    def hang(*_: object, **__: object) -> None:
        raise TimeoutException

    monkeypatch.setattr("verdicts.tasks.fulfilling.fulfil", hang)
    with listening() as lines, pytest.raises(TimeoutException):
        tasks.fulfil_order(order.pk)
    (line,) = lines
    assert line["message"] == "fulfil_order took too long"
    assert line["session"] == short_hash(order.session_id)
