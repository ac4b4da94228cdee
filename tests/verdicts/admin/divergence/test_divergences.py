"""Comparisons are listed by level, cause, tier and day, and read side by side."""

from datetime import timedelta
from itertools import product

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.core.divergence import Provenance, attribute
from audit.models import DivergenceEvent
from verdicts.admin.divergence.divergences import LISTS
from verdicts.admin.divergence.side_by_side import mark_differences

pytestmark = pytest.mark.django_db


def listed(client, **filters: str) -> int:
    answer = client.get(reverse("admin:audit_divergenceevent_changelist"), filters)
    assert answer.status_code == 200
    return len(answer.context["cl"].result_list)


def test_filters_by_level_cause_tier_and_day(reviewer, diverged):
    today = timezone.now().date()
    assert listed(reviewer) == 1
    assert listed(reviewer, level__exact="significant") == 1
    assert listed(reviewer, level__exact="none") == 0
    assert listed(reviewer, tier__exact="full") == 1
    assert listed(reviewer, tier__exact="quick") == 0
    assert listed(reviewer, cause="infrastructure") == 1
    assert listed(reviewer, cause="prompt") == 0
    assert listed(reviewer, created_at_from=f"{today}", created_at_to=f"{today}") == 1
    assert listed(reviewer, created_at_from=f"{today + timedelta(days=1)}") == 0
    assert listed(reviewer, created_at_to=f"{today - timedelta(days=1)}") == 0
    assert listed(reviewer, created_at_from="yesterday") == 1


def test_one_cause_among_several_is_found(reviewer, diverged):
    DivergenceEvent.objects.update(causes=["prompt", "model"], same_inputs=False)
    assert listed(reviewer, cause="model") == 1
    assert listed(reviewer, cause="prompt") == 1
    assert listed(reviewer, cause="config") == 0
    assert listed(reviewer, cause="infrastructure") == 0


def test_whatever_explains_a_difference_is_found_by_each_of_its_causes():
    was = Provenance("prompt", "config", "model", "version")
    others = [Provenance(*parts) for parts in product(*((part, "other") for part in was))]
    assert all(list(attribute(one, was)) in LISTS for one in (None, *others))


def test_what_was_skipped_is_listed_as_a_level(reviewer, diverged):
    assert listed(reviewer, level__exact="skipped") == 0
    DivergenceEvent.objects.update(level="", skipped=True)
    assert listed(reviewer, level__exact="skipped") == 1
    assert listed(reviewer, level__exact="none") == 0


def page(client) -> str:
    address = reverse("admin:audit_divergenceevent_change", args=[DivergenceEvent.objects.get().pk])
    return client.get(address).content.decode()


@pytest.mark.parametrize("smoke", [True, False])
def test_a_smoke_tests_comparison_is_seen_for_what_it_is(reviewer, diverged, smoke):
    DivergenceEvent.objects.update(smoke=smoke)
    text = reviewer.get(reverse("admin:audit_divergenceevent_changelist")).content.decode()
    assert ("significant, smoke test" in text) is smoke


def test_both_verdicts_stand_side_by_side(reviewer, diverged):
    text = page(reviewer)
    assert "Original, as emailed" in text
    assert "<del>" in text
    assert "<ins>" in text
    for name in ("Stability", "Turbulence", "Change Rate", "Completion", "Curvature"):
        assert name in text
    assert "Your emailed verdict, GREEN, is the authoritative one." in text
    assert "your emailed GREEN stands" in text  # by email, when


def test_an_operator_sees_labels_without_texts(person, diverged):
    text = page(person("Operator"))
    assert "The texts are hidden" in text
    assert "Curvature" in text
    assert "<del>" not in text


def test_without_an_original_there_is_nothing_beside_it(reviewer, diverged):
    DivergenceEvent.objects.update(
        original_verdict="UNKNOWN", level="", skipped=True, dimensions=[], causes=["unknown"]
    )
    diverged.verdicts.filter(kind="original").update(kind="regen")
    text = page(reviewer)
    assert "cannot be laid side by side" in text
    assert "the two may differ" in text


def test_only_the_words_that_differ_are_marked():
    before, after = mark_differences("Rests on one big customer.", "Rests on two big customers.")
    assert [piece.text for piece in before if piece.differs] == ["one", "customer."]
    assert [piece.text for piece in after if piece.differs] == ["two", "customers."]
    assert "".join(piece.text for piece in after) == "Rests on two big customers."
    same, _ = mark_differences("The same.", "The same.")
    assert not any(piece.differs for piece in same)


def test_texts_with_little_in_common_are_marked_whole():
    (before,), (after,) = mark_differences("All of it is new to me.", "Nothing in common at all.")
    assert before.differs
    assert after.differs
