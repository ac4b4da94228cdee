"""What the gate decided: listed by flags, and taken apart with the formula's own numbers."""

import pytest
from django.urls import reverse

from audit.core.crosscheck import crosscheck
from audit.models import CrosscheckLog
from verdicts.admin.review.score import take_apart

pytestmark = pytest.mark.django_db


def record(output: str, tier: str = "quick") -> CrosscheckLog:
    about = {"session_id": "cs_test_a1B2c3D4e5", "kind": "original", "tier": tier}
    return CrosscheckLog.record(crosscheck(output, tier), output, **about)


def test_approved_checks_with_flags_are_a_list_of_their_own(reviewer):
    plain = record('{"verdict": "GREEN", "summary": "Small and easy to undo."}')
    rejected = record("I think this is GREEN.")
    flagged = record(
        '{"verdict": "GREEN", "summary": "Good enough to try.", "breakdown": {'
        + ", ".join(
            f'"{name}": {{"verdict": "RED", "analysis": "No."}}'
            for name in ("Stability", "Turbulence", "Change Rate", "Completion", "Curvature")
        )
        + "}}",
        "full",
    )
    assert (plain.flagged, rejected.flagged, flagged.flagged) == (False, False, True)
    address = reverse("admin:audit_crosschecklog_changelist")
    listed = reviewer.get(address, {"flagged__exact": "1"}).context["cl"].result_list
    assert [check.pk for check in listed] == [flagged.pk]
    page = reviewer.get(reverse("admin:audit_crosschecklog_change", args=[flagged.pk]))
    assert "Passed with flags" in page.content.decode()


@pytest.mark.parametrize("smoke", [True, False])
def test_a_smoke_tests_rejection_is_seen_for_what_it_is(reviewer, smoke):
    record("I think this is GREEN.")
    CrosscheckLog.objects.update(smoke=smoke)
    text = reviewer.get(reverse("admin:audit_crosschecklog_changelist")).content.decode()
    assert ("degenerate manifold, smoke test" in text) is smoke


def test_the_parts_make_up_the_score():
    check = record('{"verdict": "GREEN", "summary": "Go."}')
    score = take_apart(check)
    assert [(term.name, term.total) for term in score.terms] == [
        ("V_t", 2.0),
        ("V_r", 1.0),
        ("E_D", 0.0),
    ]
    assert score.formula == "C = 1 − (E_D 0.0 + V_r 1.0 × Φ 0.042) / V_t 2.0 = 0.9790"
    assert score.verdict == "0.9790 ≥ Ω 0.97404: approved"


def test_a_score_below_zero_is_never_compared():
    score = take_apart(record("prose"))
    assert "below zero" in score.verdict
    assert score.terms[0].note == "never less than 1.0"


def test_a_gate_that_failed_has_no_score(reviewer):
    check = record("{}", "nonsense")
    CrosscheckLog.objects.update(tier="quick")
    assert take_apart(check) is None
    page = reviewer.get(reverse("admin:audit_crosschecklog_change", args=[check.pk]))
    assert "The gate itself failed" in page.content.decode()


@pytest.mark.parametrize(
    "output", ["\ud800 \x00 <script>", '{"verdict": "\\ud800"}', "", "[" * 5000]
)
def test_whatever_the_model_wrote_can_be_shown(reviewer, output):
    check = record(output)
    page = reviewer.get(reverse("admin:audit_crosschecklog_change", args=[check.pk]))
    assert page.status_code == 200
    assert "<script>" not in page.content.decode().split('id="output"')[1].split("</section>")[0]
