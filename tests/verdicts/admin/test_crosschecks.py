"""The gate's decisions: the list of flagged ones, and the explanation of a score."""

import pytest
from django.urls import reverse

from audit.core.crosscheck import crosscheck
from audit.models import CrosscheckLog
from verdicts.admin.review.score import explain_score

pytestmark = pytest.mark.django_db


def record(output: str, tier: str = "quick") -> CrosscheckLog:
    about = {"session_id": "cs_test_a1B2c3D4e5", "kind": "original", "tier": tier}
    return CrosscheckLog.record(crosscheck(output, tier), output, **about)


def test_flagged_checks_can_be_filtered(reviewer):
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
def test_a_smoke_tests_rejection_is_marked(reviewer, smoke):
    record("I think this is GREEN.")
    CrosscheckLog.objects.update(smoke=smoke)
    text = reviewer.get(reverse("admin:audit_crosschecklog_changelist")).content.decode()
    assert ("degenerate manifold, smoke test" in text) is smoke


def test_the_terms_explain_the_score():
    check = record('{"verdict": "GREEN", "summary": "Go."}')
    score = explain_score(check)
    assert [(term.name, term.total) for term in score.terms] == [
        ("V_t", 2.0),
        ("V_r", 1.0),
        ("E_D", 0.0),
    ]
    assert score.formula == "C = 1 − (E_D 0.0 + V_r 1.0 × Φ 0.042) / V_t 2.0 = 0.9790"
    assert score.comparison == "0.9790 ≥ Ω 0.97404: approved"


def test_a_negative_score_is_not_compared_with_the_threshold():
    score = explain_score(record("prose"))
    assert "negative" in score.comparison
    assert score.terms[0].note == "minimum 1.0"


def test_a_failed_gate_has_no_score(reviewer):
    check = record("{}", "nonsense")
    CrosscheckLog.objects.update(tier="quick")
    assert explain_score(check) is None
    page = reviewer.get(reverse("admin:audit_crosschecklog_change", args=[check.pk]))
    assert "The gate itself failed" in page.content.decode()


@pytest.mark.parametrize(
    "output", ["\ud800 \x00 <script>", '{"verdict": "\\ud800"}', "", "[" * 5000]
)
def test_any_output_can_be_shown(reviewer, output):
    check = record(output)
    page = reviewer.get(reverse("admin:audit_crosschecklog_change", args=[check.pk]))
    assert page.status_code == 200
    assert "<script>" not in page.content.decode().split('id="output"')[1].split("</section>")[0]
