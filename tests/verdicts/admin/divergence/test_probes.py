"""The list of determinism probes, and its chart of the residual rate."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.core.wilson import wilson
from audit.models import DeterminismProbe
from verdicts.admin.divergence.probes import MAX_CHARTED
from verdicts.core.formatting import format_datetime

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
    assert full.rate == "10.0%"  # the latest probe: four of forty
    low, high = wilson(4, 40)
    assert full.interval == f"{low:.1%} to {high:.1%}"
    assert [row[1] for row in full.chart.rows] == ["4 of 40", "1 of 40", "0 of 40"]
    assert len(full.chart.changes) == 1
    assert "4 of 40 differed; 95% interval" in page
    assert "gemini-2.5-flash, reported as flash-002" in page
    assert 'aria-label="Residual rate, full: 3 probes, the latest 10.0%' in page
    assert "No probes of this tier yet." in page  # the other two
    assert "c-number c-bad" in page  # above R14's alert rate


def test_few_comparisons_are_marked_as_unreliable(reviewer):
    probe(8, compared=10)
    _, page = residuals(reviewer)
    assert "Fewer than 20 compared: too few for a reliable rate." in page
    assert "c-number c-bad" not in page


def test_without_probes_the_page_shows_the_command(reviewer):
    found, page = residuals(reviewer)
    assert found == {}
    assert "manage.py probe_determinism --tier full -n 20" in page


def test_the_filters_apply_to_the_charts_too(reviewer):
    old, _ = probe(40, tier="quick"), probe(20, tier="full")
    then = timezone.now() - timedelta(days=40)
    DeterminismProbe.objects.filter(pk=old.pk).update(created_at=then)
    found, _ = residuals(reviewer, tier__exact="quick")
    assert (found["quick"].rate, found["full"].latest) == ("0.0%", None)
    found, _ = residuals(reviewer, created_at_from=f"{timezone.now():%Y-%m-%d}")
    assert (found["full"].rate, found["quick"].latest) == ("50.0%", None)
    found, page = residuals(reviewer, tier__exact="strategy")
    assert found == {}
    assert "No probes match the filters." in page
    assert "No probes yet" not in page


def test_only_the_latest_probes_are_charted(reviewer):
    probe(0)
    for _ in range(MAX_CHARTED):
        probe(40)
    found, page = residuals(reviewer)
    assert len(found["full"].chart.marks) == MAX_CHARTED
    assert {row[1] for row in found["full"].chart.rows} == {"0 of 40"}
    assert f"Table of the latest {MAX_CHARTED}" in page


def test_the_charts_need_the_permission_for_the_list(client_for):
    probe(40)
    assert client_for("Operator").get(ADDRESS).status_code == 200
    assert client_for("ungrouped").get(ADDRESS).status_code == 403
    assert client_for("customer").get(ADDRESS).status_code == 302


def test_an_unknown_filter_is_rejected(reviewer):
    assert reviewer.get(ADDRESS, {"seed__exact": "1"}).status_code in (302, 400)


def test_lists_have_the_date_format_of_the_other_pages(reviewer):
    created_at = format_datetime(probe(40).created_at)
    assert f">{created_at}<" in reviewer.get(ADDRESS).content.decode()
