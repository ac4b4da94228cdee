"""Hostile queries (prompt injection): the prompt keeps its structure, every answer is gated."""

import json
import unicodedata

import pytest

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import TIERS
from audit.models import CrosscheckLog, LogEntry
from tests.support.hostile import CORPUS
from verdicts.core.prompt import QueryError, build_verdict_prompt, clean_query
from verdicts.generation.client import Answer
from verdicts.generation.fulfil import fulfil
from verdicts.models import CachedVerdict, Status, Verdict

OPEN, CLOSE = "<<<SUBMISSION", "SUBMISSION>>>"


def is_accepted(text: str) -> bool:
    try:
        clean_query(text)
    except QueryError:
        return False
    return True


ACCEPTED = [entry for entry in CORPUS if is_accepted(entry.text)]


def test_the_corpus_covers_many_kinds_and_scripts():
    assert len(ACCEPTED) >= 60
    assert len({entry.kind for entry in CORPUS}) >= 12
    assert len({entry.text for entry in CORPUS}) == len(CORPUS)
    scripts = {unicodedata.name(one, "").partition(" ")[0] for e in CORPUS for one in e.text}
    wanted = {"ARABIC", "CJK", "CYRILLIC", "DEVANAGARI", "HANGUL", "HEBREW", "HIRAGANA", "LATIN"}
    assert wanted <= scripts


def test_only_unprintable_queries_are_refused_with_an_explanation():
    refused = [entry for entry in CORPUS if entry not in ACCEPTED]
    assert {entry.kind for entry in refused} == {"terminal", "log"}
    for entry in refused:
        with pytest.raises(QueryError, match=r"cannot be printed. Please remove it"):
            clean_query(entry.text)


@pytest.mark.parametrize("entry", ACCEPTED, ids=lambda entry: entry.name)
def test_a_query_stays_inside_its_delimiters(entry):
    query = clean_query(entry.text)
    for tier in TIERS:
        before, _, after = build_verdict_prompt(tier, "\0").partition(json.dumps("\0"))
        prompt = build_verdict_prompt(tier, query)
        assert prompt.startswith(before)
        assert prompt.endswith(after)
        inside = prompt[len(before) : len(prompt) - len(after)]
        assert len(inside.splitlines()) == 1  # at every line boundary that Unicode defines
        assert json.loads(inside) == query
        lines = prompt.splitlines()
        assert (lines.count(OPEN), lines.count(CLOSE)) == (1, 1)
        assert (prompt.count(OPEN), prompt.count(CLOSE)) == (1, 1)


# A customer can dictate a complete verdict and have the model repeat it: the gate checks its parts,
# and cannot know who wrote it (docs/GATE.md).
REPEATED = {"a whole quick verdict", "a Markdown fence around an answer"}


@pytest.mark.django_db
def test_an_answer_that_repeats_the_query_is_gated_like_any_other(paid_order):
    delivered = set()
    for entry in ACCEPTED:
        order = paid_order("quick", entry.text)
        assert order.query == clean_query(entry.text)
        answer = Answer(entry.text, "STOP", "", "v", "r", 1, 1)
        fulfil(order.pk, model="gemini-2.5-flash", ask=lambda _, answer=answer: answer)
        order.refresh_from_db()
        check = CrosscheckLog.objects.get(session_id=order.session_id)
        assert check.approved == crosscheck(entry.text, "quick").approved
        if order.status == Status.DELIVERED:
            delivered.add(entry.name)
        else:
            assert order.status == Status.REJECTED
            assert not Verdict.objects.filter(order=order).exists()
            assert not CachedVerdict.objects.filter(session_id=order.session_id).exists()
    assert delivered == REPEATED


@pytest.mark.django_db(transaction=True)  # lines are written after the commit
def test_each_hostile_query_is_one_line_of_the_log(paid_order, settings):
    for entry in ACCEPTED:
        order = paid_order("quick", entry.text)
        answer = Answer("{}", "STOP", "", "v", "r", 1, 1)
        fulfil(order.pk, model="gemini-2.5-flash", ask=lambda _, answer=answer: answer)
    lines = settings.ORACLE_LOG_PATH.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert len(lines) == LogEntry.objects.count() == len(ACCEPTED)
    for line, entry in zip(lines, ACCEPTED, strict=True):
        assert line.isascii()
        assert json.loads(line)["query_preview"] == clean_query(entry.text)[:80]
