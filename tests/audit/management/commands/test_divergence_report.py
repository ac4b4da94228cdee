import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.core.crosscheck import crosscheck
from audit.models import CrosscheckLog, DivergenceEvent, Escalation
from tests.support.verdict_payloads import complete

pytestmark = pytest.mark.django_db

HEAD = "  compared  same  minor  significant  skipped  equal inputs  diverged   rate   95% interval"


def compare(level="none", *, tier="quick", causes=("infrastructure",), days_ago=1, count=1):
    decision = crosscheck(complete("quick"), "quick")
    for _ in range(count):
        about = {"session_id": "cs_test_12345678", "tier": tier}
        check = CrosscheckLog.record(decision, "", kind="regen", **about)
        event = DivergenceEvent.objects.create(
            crosscheck=check,
            original_verdict="GREEN" if level else "UNKNOWN",
            original_source="verdict" if level else "none",
            regen_verdict="GREEN",
            level=level,
            skipped=not level,
            causes=list(causes),
            same_inputs=tuple(causes) == ("infrastructure",),
            latency_ms=1,
            **about,
        )
        then = timezone.now() - timedelta(days=days_ago)
        DivergenceEvent.objects.filter(pk=event.pk).update(created_at=then)


@pytest.fixture
def report(capsys):
    def run(*arguments):
        call_command("divergence_report", *arguments)
        return capsys.readouterr().out

    return run


@pytest.fixture
def rates(report):
    """The JSON report's rates, by tier."""

    def run(*arguments):
        found = json.loads(report("--format", "json", *arguments))
        return {one["tier"]: one for one in found["rates"]}

    return run


@pytest.fixture
def comparisons(db):
    compare(count=18)
    compare("minor")
    compare("significant")
    compare("significant", tier="full", causes=("model", "prompt"))
    compare("", tier="full", causes=("unknown",))
    compare("minor", tier="full", days_ago=8)


def test_levels_and_causes_are_counted_by_tier(comparisons, rates):
    found = rates("--days", "7")
    assert list(found) == ["quick", "full", "strategy", "all"]
    assert found["quick"]["levels"] == {"none": 18, "minor": 1, "significant": 1, "skipped": 0}
    assert found["full"]["levels"] == {"none": 0, "minor": 0, "significant": 1, "skipped": 1}
    assert found["all"]["compared"] == 21
    causes = {"prompt": 1, "config": 0, "model": 1, "infrastructure": 2, "unknown": 0}
    assert found["all"]["causes"] == causes


def test_the_rate_counts_only_equal_inputs(comparisons, rates):
    found = rates("--days", "7")
    assert (found["all"]["equal_terms"], found["all"]["diverged"]) == (20, 2)
    assert found["all"]["rate"] == 0.1
    low, high = found["all"]["interval"]
    assert (round(low, 4), round(high, 4)) == (0.0279, 0.301)
    assert found["full"]["rate"] is None


def test_days_and_tier_filter_the_report(comparisons, rates):
    assert rates("--days", "30")["full"]["levels"]["minor"] == 1
    assert list(rates("--tier", "full")) == ["full"]


@pytest.mark.parametrize(
    ("same", "differ", "assessment"),
    [(18, 1, "too few"), (18, 2, "above"), (20, 0, "at or below"), (100, 0, "below")],
)
def test_the_rate_is_assessed_against_the_alert_rate(rates, same, differ, assessment):
    compare(count=same)
    compare("minor", count=differ)
    assert rates()["quick"]["standing"] == assessment


def test_the_table_is_aligned_and_complete(comparisons, report):
    now = timezone.now()
    Escalation.objects.create(day=now.date(), checked=20, diverged=2, low=0.028, high=0.301)
    output = report("--days", "7")
    lines = output.splitlines()
    assert lines[0].startswith("Divergence, last 7 days: ")
    assert lines[2].startswith(f"Tier    {HEAD}")
    assert lines[4].startswith("quick           20    18      1            1        0")
    assert lines[4].endswith(" 10.0%  2.8% to 30.1%  above")
    assert set(lines[3]) == set(lines[7]) == {"-", " "}
    assert lines[8].startswith("all ")
    assert "  infrastructure           2" in output
    assert f"  {now:%Y-%m-%d}  2 of 20 (10.0%, 2.8% to 30.1%)" in output
    assert [line for line in lines if line != line.rstrip()] == []


def test_an_empty_database_gives_an_empty_report(report):
    output = report()
    assert "no divergence" in output
    assert output.rstrip().endswith("Escalations (all tiers)\n  none")
    assert "too few" in output


def test_csv_has_a_row_per_tier(comparisons, report):
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", "--days", "7"))))
    assert [row["tier"] for row in rows] == ["quick", "full", "strategy", "all"]
    assert rows[0]["level_minor"] == "1"
    assert rows[0]["cause_infrastructure"] == "2"
    assert rows[1]["rate"] == ""


def test_csv_formulas_are_escaped(report, monkeypatch):
    name = "audit.divergence_rates.TIERS"
    monkeypatch.setattr(name, ("=cmd()", "quick"))
    assert report("--format", "csv").splitlines()[1].startswith("'=cmd(),")


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "99999", "²"])
def test_invalid_days_are_rejected(report, wrong):
    with pytest.raises(CommandError, match="a number of days"):
        report(f"--days={wrong}")


def test_the_number_of_queries_is_constant(comparisons, report, django_assert_num_queries):
    with django_assert_num_queries(2):
        report()
