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

HEAD = "  compared  same  minor  significant  skipped  equal terms  diverged   rate   95% interval"


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
def some(db):
    compare(count=18)
    compare("minor")
    compare("significant")
    compare("significant", tier="full", causes=("model", "prompt"))
    compare("", tier="full", causes=("unknown",))
    compare("minor", tier="full", days_ago=8)


def test_levels_and_causes_are_counted_by_tier(some, rates):
    found = rates("--days", "7")
    assert list(found) == ["quick", "full", "strategy", "all"]
    assert found["quick"]["levels"] == {"none": 18, "minor": 1, "significant": 1, "skipped": 0}
    assert found["full"]["levels"] == {"none": 0, "minor": 0, "significant": 1, "skipped": 1}
    assert found["all"]["compared"] == 21
    causes = {"prompt": 1, "config": 0, "model": 1, "infrastructure": 2, "unknown": 0}
    assert found["all"]["causes"] == causes


def test_the_rate_counts_equal_terms_only(some, rates):
    found = rates("--days", "7")
    assert (found["all"]["equal_terms"], found["all"]["diverged"]) == (20, 2)
    assert found["all"]["rate"] == 0.1
    low, high = found["all"]["interval"]
    assert (round(low, 4), round(high, 4)) == (0.0279, 0.301)
    assert found["full"]["rate"] is None


def test_days_and_tier_narrow_it(some, rates):
    assert rates("--days", "30")["full"]["levels"]["minor"] == 1
    assert list(rates("--tier", "full")) == ["full"]


@pytest.mark.parametrize(
    ("same", "differ", "standing"),
    [(18, 1, "too few"), (18, 2, "above"), (20, 0, "at or below"), (100, 0, "below")],
)
def test_the_rate_stands_beside_the_line(rates, same, differ, standing):
    compare(count=same)
    compare("minor", count=differ)
    assert rates()["quick"]["standing"] == standing


def test_the_table_is_aligned_and_names_everything(some, report):
    now = timezone.now()
    Escalation.objects.create(day=now.date(), checked=20, diverged=2, low=0.028, high=0.301)
    said = report("--days", "7")
    lines = said.splitlines()
    assert lines[0].startswith("Divergence, last 7 days: ")
    assert lines[2].startswith(f"Tier    {HEAD}")
    assert lines[4].startswith("quick           20    18      1            1        0")
    assert lines[4].endswith(" 10.0%  2.8% to 30.1%  above")
    assert set(lines[3]) == set(lines[7]) == {"-", " "}
    assert lines[8].startswith("all ")
    assert "  infrastructure           2" in said
    assert f"  {now:%Y-%m-%d}  2 of 20 (10.0%, 2.8% to 30.1%)" in said
    assert [line for line in lines if line != line.rstrip()] == []


def test_nothing_on_record_is_told_as_such(report):
    said = report()
    assert "nothing diverged" in said
    assert said.rstrip().endswith("Escalations, of all tiers\n  none")
    assert "too few" in said


def test_csv_has_a_row_per_tier(some, report):
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", "--days", "7"))))
    assert [row["tier"] for row in rows] == ["quick", "full", "strategy", "all"]
    assert rows[0]["level_minor"] == "1"
    assert rows[0]["cause_infrastructure"] == "2"
    assert rows[1]["rate"] == ""


def test_csv_text_is_no_formula(report, monkeypatch):
    name = "audit.divergence_rates.TIERS"
    monkeypatch.setattr(name, ("=cmd()", "quick"))
    assert report("--format", "csv").splitlines()[1].startswith("'=cmd(),")


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "99999", "²"])
def test_days_that_are_none_are_refused(report, wrong):
    with pytest.raises(CommandError, match="a number of days"):
        report(f"--days={wrong}")


def test_it_is_one_query_for_the_events_however_many(some, report, django_assert_num_queries):
    with django_assert_num_queries(2):
        report()
