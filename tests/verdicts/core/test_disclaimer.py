import pytest

from audit.core.vocabulary import LABELS, UNKNOWN
from verdicts.core.disclaimer import MAY_DIFFER, NOTE, Comparison


@pytest.mark.parametrize("emailed", LABELS)
def test_while_it_is_pending_the_emailed_verdict_is_named(emailed):
    told = Comparison(emailed).as_dict()
    assert told == {
        "status": "pending",
        "level": None,
        "emailed_verdict": emailed,
        "disclaimer": None,
    }


@pytest.mark.parametrize("level", ["minor", "significant"])
def test_a_difference_names_the_authoritative_one(level):
    disclaimer = Comparison("GREEN", "checked", level).disclaimer
    assert "Your emailed verdict, GREEN, is the authoritative one." in disclaimer


def test_no_difference_needs_no_disclaimer():
    assert Comparison("GREEN", "checked", "none").disclaimer is None


@pytest.mark.parametrize("status", ["pending", "skipped"])
def test_an_unknown_original_may_differ_from_the_first_answer_on(status):
    assert Comparison(UNKNOWN, status).disclaimer == MAY_DIFFER


def test_the_note_is_the_documents():
    document = """
    NOTE: Due to a technical condition, the verdict on your results page may differ slightly from
    the one you received by email. Both represent a valid coherence reading of your submission.
    If you have questions, reply to this email and we will provide clarification.
    """
    assert " ".join(document.split()) == NOTE
