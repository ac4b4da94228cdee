"""The probes' list, and what it says over time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.core.wilson import wilson
from audit.models import DeterminismProbe
from verdicts.admin.divergence.probes import SHOWN

pytestmark = pytest.mark.django_db
ADDRESS = "/admin/audit/determinismprobe/"


def probe(same: int, *, tier: str = "full", compared: int = 40, version: str = "flash-001"):
    low, high = wilson(same, compared)
    return DeterminismProbe.objects.create(
        tier=tier,
        model="gemini-2.5-flash",
        prompt_sha256="0" * 64,
        temperature=0.0,
        seed=1,
        asked=compared + 1,
        unanswered=0,
        rejected=0,
        compared=compared,
        same_label=same,
        same_text=same,
        distinct_texts=1,
        low=low,
        high=high,
        model_versions=[version],
        prompt_tokens=1,
        output_tokens=1,
    )


def residuals(client, **query: str):
    answer = client.get(ADDRESS, query)
    assert answer.status_code == 200
    return {one.tier: one for one in answer.context["residuals"]}, answer.content.decode()


def test_the_residual_rate_of_a_tier_over_time_with_its_interval_and_versions(reviewer):
    probe(40)
    probe(39)
    probe(36, version="flash-002")
    found, page = residuals(reviewer)
    full = found["full"]
    assert full.rate == "10.0%"  # four of forty, by the latest
    low, high = wilson(4, 40)
    assert full.interval == f"{low:.1%} to {high:.1%}"
    assert [row[1] for row in full.chart.rows] == ["4 of 40", "1 of 40", "0 of 40"]
    assert len(full.chart.changes) == 1
    assert "4 of 40 differed; 95% interval" in page
    assert "gemini-2.5-flash as flash-002" in page
    assert 'aria-label="Residual rate, full: 3 probes, the latest 10.0%' in page
    assert "No probe of this tier yet." in page  # the other two
    assert "c-number c-bad" in page  # above R14's line, of enough


def test_what_too_few_say_is_a_hint(reviewer):
    probe(8, compared=10)
    _, page = residuals(reviewer)
    assert "Fewer than 20 compared: a hint, not a rate." in page
    assert "c-number c-bad" not in page


def test_without_a_probe_it_says_how_to_make_one(reviewer):
    found, page = residuals(reviewer)
    assert found == {}
    assert "manage.py probe_determinism --tier full -n 20" in page


def test_the_filter_is_the_figures_too(reviewer):
    old, _ = probe(40, tier="quick"), probe(20, tier="full")
    then = timezone.now() - timedelta(days=40)
    DeterminismProbe.objects.filter(pk=old.pk).update(created_at=then)
    found, _ = residuals(reviewer, tier__exact="quick")
    assert (found["quick"].rate, found["full"].latest) == ("0.0%", None)
    found, _ = residuals(reviewer, created_at_from=f"{timezone.now():%Y-%m-%d}")
    assert (found["full"].rate, found["quick"].latest) == ("50.0%", None)
    found, page = residuals(reviewer, tier__exact="strategy")
    assert found == {}
    assert "No probe fits the filter." in page
    assert "No probe yet" not in page


def test_only_the_latest_are_drawn(reviewer):
    probe(0)
    for _ in range(SHOWN):
        probe(40)
    found, page = residuals(reviewer)
    assert len(found["full"].chart.marks) == SHOWN
    assert {row[1] for row in found["full"].chart.rows} == {"0 of 40"}
    assert f"Figures, the latest {SHOWN}" in page


def test_who_may_not_see_the_list_sees_no_figures(person):
    probe(40)
    assert person("Operator").get(ADDRESS).status_code == 200
    assert person("nobody").get(ADDRESS).status_code == 403
    assert person("customer").get(ADDRESS).status_code == 302


def test_an_address_with_a_filter_that_there_is_not_leads_back(reviewer):
    assert reviewer.get(ADDRESS, {"seed__exact": "1"}).status_code in (302, 400)
