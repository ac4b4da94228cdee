import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from audit.models import CrosscheckLog, LogEntry
from tests.verdict_payloads import complete
from verdicts.models import Case
from verdicts.services.cases import close


def calibrate(*arguments: str) -> str:
    out = StringIO()
    call_command("calibrate_crosscheck", *arguments, stdout=out)
    return out.getvalue()


def corpus(tmp_path, *entries: object) -> str:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return str(path)


def test_a_corpus_is_scored_and_compared_with_its_labels(tmp_path):
    told = calibrate(
        corpus(
            tmp_path,
            {"tier": "quick", "output": json.dumps(complete("quick")), "should_pass": True},
            {"tier": "full", "output": complete("full")},
            {"tier": "full", "output": "nonsense", "should_pass": True},
        )
    )
    assert "3 checked: 2 approved, 1 rejected" in told
    assert "degenerate_manifold" in told
    assert "They agree on 1 of 2 (50.0%)." in told


@pytest.mark.django_db
def test_what_staff_decided_is_a_corpus_too(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory", times=2)
    paid_order("full")
    paid_order("full")
    run_jobs()
    right, wrong = Case.objects.order_by("pk")
    who = User.objects.create_user("ada")
    close(right, Case.Outcome.CORRECT, who=who, note="right")
    close(wrong, Case.Outcome.FALSE, who=who, note="wrong")
    before = (CrosscheckLog.objects.count(), LogEntry.objects.count())
    told = calibrate("--from-reviews")
    assert "They agree on 1 of 2 (50.0%)." in told
    assert (CrosscheckLog.objects.count(), LogEntry.objects.count()) == before


@pytest.mark.django_db
def test_without_reviews_there_is_nothing_to_calibrate_by():
    with pytest.raises(CommandError, match="nothing to calibrate by"):
        calibrate("--from-reviews")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "Line 1 needs an object"),
        ("[]", "Line 1 needs an object"),
        ('{"tier": "quick"}', "Line 1 needs an object"),
        ('{"tier": "gold", "output": ""}', "Line 1 needs a tier"),
        ('{"tier": "quick", "output": "", "should_pass": "yes"}', "true or false"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path, line, sentence):
    path = tmp_path / "corpus.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(CommandError, match=sentence):
        calibrate(str(path))


@pytest.mark.parametrize("arguments", [(), ("corpus.jsonl", "--from-reviews"), ("no-such-file",)])
def test_what_cannot_be_read_is_said(arguments):
    with pytest.raises(CommandError):
        calibrate(*arguments)
