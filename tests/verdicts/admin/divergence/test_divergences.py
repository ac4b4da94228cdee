"""Comparisons: filters by level, cause, tier and day; the two verdicts side by side."""

from datetime import timedelta
from itertools import product

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.core.divergence import Provenance, attribute
from audit.models import DivergenceEvent
from verdicts.admin.divergence.divergences import CAUSE_LISTS
from verdicts.admin.divergence.side_by_side import mark_differences

pytestmark = pytest.mark.django_db


def count_listed(client, **filters: str) -> int:
    answer = client.get(reverse("admin:audit_divergenceevent_changelist"), filters)
    assert answer.status_code == 200
    return len(answer.context["cl"].result_list)


def test_filters_by_level_cause_tier_and_day(reviewer, diverged):
    today = timezone.now().date()
    assert count_listed(reviewer) == 1
    assert count_listed(reviewer, level__exact="significant") == 1
    assert count_listed(reviewer, level__exact="none") == 0
    assert count_listed(reviewer, tier__exact="full") == 1
    assert count_listed(reviewer, tier__exact="quick") == 0
    assert count_listed(reviewer, cause="infrastructure") == 1
    assert count_listed(reviewer, cause="prompt") == 0
    assert count_listed(reviewer, created_at_from=f"{today}", created_at_to=f"{today}") == 1
    assert count_listed(reviewer, created_at_from=f"{today + timedelta(days=1)}") == 0
    assert count_listed(reviewer, created_at_to=f"{today - timedelta(days=1)}") == 0
    assert count_listed(reviewer, created_at_from="yesterday") == 1


def test_the_cause_filter_finds_combined_causes(reviewer, diverged):
    DivergenceEvent.objects.update(causes=["prompt", "model"], same_inputs=False)
    assert count_listed(reviewer, cause="model") == 1
    assert count_listed(reviewer, cause="prompt") == 1
    assert count_listed(reviewer, cause="config") == 0
    assert count_listed(reviewer, cause="infrastructure") == 0


def test_every_combination_of_causes_is_covered_by_the_filter():
    original = Provenance("prompt", "config", "model", "version")
    regens = [Provenance(*parts) for parts in product(*((part, "other") for part in original))]
    assert all(list(attribute(regen, original)) in CAUSE_LISTS for regen in (None, *regens))


def test_skipped_comparisons_can_be_filtered_like_a_level(reviewer, diverged):
    assert count_listed(reviewer, level__exact="skipped") == 0
    DivergenceEvent.objects.update(level="", skipped=True)
    assert count_listed(reviewer, level__exact="skipped") == 1
    assert count_listed(reviewer, level__exact="none") == 0


def page(client) -> str:
    address = reverse("admin:audit_divergenceevent_change", args=[DivergenceEvent.objects.get().pk])
    return client.get(address).content.decode()


@pytest.mark.parametrize("smoke", [True, False])
def test_a_smoke_tests_comparison_is_marked(reviewer, diverged, smoke):
    DivergenceEvent.objects.update(smoke=smoke)
    text = reviewer.get(reverse("admin:audit_divergenceevent_changelist")).content.decode()
    assert ("significant, smoke test" in text) is smoke


def test_both_verdicts_are_shown_side_by_side(reviewer, diverged):
    text = page(reviewer)
    assert "Original, as emailed" in text
    assert "<del>" in text
    assert "<ins>" in text
    for name in ("Stability", "Turbulence", "Change Rate", "Completion", "Curvature"):
        assert name in text
    assert "Your emailed verdict, GREEN, is the authoritative one." in text
    assert "your emailed GREEN stands" in text


def test_an_operator_sees_labels_without_texts(client_for, diverged):
    text = page(client_for("Operator"))
    assert "The texts are hidden" in text
    assert "Curvature" in text
    assert "<del>" not in text


def test_without_an_original_nothing_is_compared(reviewer, diverged):
    DivergenceEvent.objects.update(
        original_verdict="UNKNOWN", level="", skipped=True, dimensions=[], causes=["unknown"]
    )
    diverged.verdicts.filter(kind="original").update(kind="regen")
    text = page(reviewer)
    assert "cannot be shown side by side" in text
    assert "the two may differ" in text


def test_only_differing_words_are_marked():
    before, after = mark_differences("Rests on one big customer.", "Rests on two big customers.")
    assert [segment.text for segment in before if segment.differs] == ["one", "customer."]
    assert [segment.text for segment in after if segment.differs] == ["two", "customers."]
    assert "".join(segment.text for segment in after) == "Rests on two big customers."
    same, _ = mark_differences("The same.", "The same.")
    assert not any(segment.differs for segment in same)


def test_dissimilar_texts_are_marked_as_a_whole():
    (before,), (after,) = mark_differences("All of it is new to me.", "Nothing in common at all.")
    assert before.differs
    assert after.differs
