from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from audit.core.redaction import short_hash
from audit.models import Action, LogEntry
from tests.support.service_log import listening
from verdicts.models import CachedVerdict

pytestmark = pytest.mark.django_db


def evict(*arguments: str) -> str:
    out = StringIO()
    call_command("evict", *arguments, stdout=out)
    return out.getvalue()


def test_the_next_read_is_a_miss_and_the_eviction_is_on_record(ask, delivered):
    order = delivered("quick")
    assert "the next read is a miss" in evict(order.session_id, "--reason", "asked", "--by", "Ada")
    assert not CachedVerdict.objects.exists()
    action = Action.objects.get()
    assert (action.action, action.who, action.reason) == ("evict", "Ada", "asked")
    assert '"event":"staff_action"' in LogEntry.objects.last().entry
    assert ask(order.session_id).json()["regen"] is True


@pytest.mark.parametrize(
    ("session", "reason", "sentence"),
    [
        ("nonsense", "why", "no session id"),
        ("cs_test_nobodyKnows1", "why", "no order with"),
        ("cs_test_nobodyKnows1", "  ", "must not be blank"),
    ],
)
def test_invalid_arguments_are_one_sentence(db, session, reason, sentence):
    with pytest.raises(CommandError, match=sentence):
        evict(session, "--reason", reason)
    assert not Action.objects.exists()


def test_evicting_nothing_is_not_on_record(missed):
    with pytest.raises(CommandError, match="Nothing is cached"):
        evict(missed("quick").session_id, "--reason", "why")
    assert not Action.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_errors_are_logged_with_the_session(delivered, settings, tmp_path):
    order = delivered("quick")
    settings.ORACLE_LOG_PATH = tmp_path / "gone" / "oracle_log.jsonl"
    with listening() as lines:
        evict(order.session_id, "--reason", "asked")
    assert {line.get("session") for line in lines} == {short_hash(order.session_id)}
