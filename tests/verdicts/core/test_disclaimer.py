import pytest

from audit.core.vocabulary import LABELS, UNKNOWN
from verdicts.core.disclaimer import MAY_DIFFER, NOTE, Comparison


@pytest.mark.parametrize("emailed", LABELS)
def test_a_pending_comparison_names_the_emailed_verdict(emailed):
    divergence = Comparison(emailed).as_dict()
    assert divergence == {
        "status": "pending",
        "level": None,
        "emailed_verdict": emailed,
        "disclaimer": None,
    }


@pytest.mark.parametrize("level", ["minor", "significant"])
def test_a_divergence_names_the_authoritative_verdict(level):
    disclaimer = Comparison("GREEN", "checked", level).disclaimer
    assert "Your emailed verdict, GREEN, is the authoritative one." in disclaimer


def test_no_divergence_has_no_disclaimer():
    assert Comparison("GREEN", "checked", "none").disclaimer is None


@pytest.mark.parametrize("status", ["pending", "skipped"])
def test_an_unknown_original_always_has_a_disclaimer(status):
    assert Comparison(UNKNOWN, status).disclaimer == MAY_DIFFER


def test_the_note_is_verbatim_from_the_document():
    document = """
    NOTE: Due to a technical condition, the verdict on your results page may differ slightly from
    the one you received by email. Both represent a valid coherence reading of your submission.
    If you have questions, reply to this email and we will provide clarification.
    """
    assert " ".join(document.split()) == NOTE
