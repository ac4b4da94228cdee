import json
import re
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from audit.models import CrosscheckLog, LogEntry
from tests.support.verdict_payloads import complete
from verdicts.models import Case
from verdicts.review.cases import close


def calibrate(*arguments: str) -> str:
    out = StringIO()
    call_command("calibrate_crosscheck", *arguments, stdout=out)
    return out.getvalue()


def corpus(tmp_path, *entries: object) -> str:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return str(path)


def test_a_corpus_is_scored_and_compared_with_its_labels(tmp_path):
    output = calibrate(
        corpus(
            tmp_path,
            {"tier": "quick", "output": json.dumps(complete("quick")), "should_pass": True},
            {"tier": "full", "output": complete("full")},
            {"tier": "full", "output": "nonsense", "should_pass": True},
        )
    )
    assert "3 checked: 2 approved, 1 rejected" in output
    assert "degenerate_manifold" in output
    assert "They agree on 1 of 2 (50.0%)." in output


@pytest.mark.django_db
def test_reviewed_outputs_are_a_corpus(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory", times=2)
    paid_order("full")
    paid_order("full")
    run_jobs()
    right, wrong = Case.objects.order_by("pk")
    who = User.objects.create_user("ada")
    close(right, Case.Outcome.CORRECT, who=who, note="right")
    close(wrong, Case.Outcome.FALSE, who=who, note="wrong")
    before = (CrosscheckLog.objects.count(), LogEntry.objects.count())
    output = calibrate("--from-reviews")
    assert "They agree on 1 of 2 (50.0%)." in output
    assert (CrosscheckLog.objects.count(), LogEntry.objects.count()) == before


@pytest.mark.django_db
def test_without_reviews_there_is_nothing_to_calibrate_with():
    with pytest.raises(CommandError, match="nothing to calibrate with"):
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
def test_an_invalid_line_is_named(tmp_path, line, sentence):
    path = tmp_path / "corpus.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(CommandError, match=sentence):
        calibrate(str(path))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Name a corpus"),
        (("corpus.jsonl", "--from-reviews"), "Name a corpus"),
        (("no-such-file",), "No such file"),
        (("--mutate", "--from-reviews"), "needs good verdicts"),
        (("corpus.jsonl", "--out", "made.jsonl"), "--out needs --mutate"),
        (("--mutate", "--plot", "scores.png"), "must end in .svg"),
        (("--mutate", "--plot", "no-such-folder/scores.svg"), "directory no-such-folder"),
        (("--mutate", "--out", "no-such-folder/made.jsonl"), "No such file"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as error:
        calibrate(*arguments)
    assert error.value.returncode == 2


def test_good_verdicts_are_mutated_and_tallied():
    output = calibrate("--mutate")
    assert output.startswith("12 good verdicts: 2,544 mutants, 108 harmless changes")
    row = r"^  blank summary +36 +12 +24 +24 +0 +12 +12 +0\.958 +0\.993 +low_coherence$"
    assert re.search(row, output, re.MULTILINE)
    summary = "Rejected 1,720 of 2,544 mutants (67.6%), approved 824, 261 of them with a flag."
    assert summary in output
    assert "Rejected 0 of 108 harmless changes." in output
    assert "blank summary (full, strategy)" in output


def test_only_good_verdicts_are_mutated(tmp_path):
    output = calibrate(
        corpus(
            tmp_path,
            {"tier": "quick", "output": json.dumps(complete("quick"))},
            {"tier": "quick", "output": complete("quick"), "should_pass": False},
            {"tier": "full", "output": "nonsense"},
            {"tier": "full", "output": {**complete("full"), "summary": "Go."}},
        ),
        "--mutate",
    )
    assert output.startswith("1 good verdict: ")
    assert "3 left out" in output
    assert not re.search("^  analyses swapped", output, re.MULTILINE)


def test_without_a_good_verdict_no_file_is_written(tmp_path):
    made = tmp_path / "made.jsonl"
    bad = corpus(tmp_path, {"tier": "full", "output": "nonsense"})
    with pytest.raises(CommandError, match="no good verdict to mutate: 1 rejected"):
        calibrate(bad, "--mutate", "--out", str(made))
    assert not made.exists()


def test_the_mutants_are_written_as_a_corpus(tmp_path):
    made = tmp_path / "made.jsonl"
    assert f"2,652 lines written to {made}." in calibrate("--mutate", "--out", str(made))
    assert "They agree on 1,828 of 2,652 (68.9%)." in calibrate(str(made))
    first = json.loads(made.read_text().splitlines()[0])
    assert (first["mutation"], first["should_pass"]) == ("truncated", False)
    with pytest.raises(CommandError, match="is not overwritten"):
        calibrate("--mutate", "--out", str(made))
    assert len(made.read_text().splitlines()) == 2652


def test_the_plot_shows_scores_and_threshold(tmp_path):
    drawn = tmp_path / "scores.svg"
    output = calibrate("--mutate", "--plot", str(drawn))
    assert f"drawn in {drawn}" in output
    picture = ET.parse(drawn).getroot()  # noqa: S314 - our own
    texts = [text for text in picture.itertext() if text.strip()]
    assert "approved from Ω 0.97404 →" in texts
    assert "should pass 108" in texts
    assert len([one for one in picture.iter() if one.tag.endswith("rect")]) > 10


def test_an_unwritable_plot_is_an_error(tmp_path):
    (tmp_path / "scores.svg").mkdir()
    with pytest.raises(CommandError, match="Is a directory"):
        calibrate("--mutate", "--plot", str(tmp_path / "scores.svg"))
