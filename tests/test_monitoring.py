"""docs/MONITORING.md, the alert rules and the dashboard match the metrics that exist."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from verdicts.monitoring.metrics import MetricsCache
from verdicts.monitoring.readiness import readiness

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/MONITORING.md").read_text()
METRIC = re.compile(r"\boracle_[a-z_]+\b")


@pytest.fixture
def families(db):
    return list(text_string_to_metric_families(MetricsCache().text().decode()))


@pytest.fixture
def names(families) -> set[str]:
    """Every name that can be queried."""
    suffixes = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    found = {f"{one.name}{suffix}" for one in families for suffix in suffixes[one.type]}
    return found - {"oracle_coherence_score_sum", "oracle_coherence_score_count"}


def test_the_page_lists_every_metric_and_no_other(families, names):
    tables = PAGE.partition("## Counters")[2].partition("\n## Alerts")[0]
    listed = set(METRIC.findall(" ".join(re.findall(r"^\| (.*?) \|", tables, re.MULTILINE))))
    histograms = {one.name for one in families if one.type == "histogram"}
    assert listed - histograms == {n for n in names if METRIC.fullmatch(n)} - {
        f"oracle_model_call_seconds_{end}" for end in ("bucket", "sum", "count")
    }
    assert "oracle_model_call_seconds" in listed


def test_the_page_lists_every_check(db):
    for name in readiness():
        assert f"`{name}`" in PAGE


def metrics_of(expression: str) -> set[str]:
    return set(METRIC.findall(expression))


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    return group["rules"]


def expressions_of_the_dashboard() -> list[str]:
    board = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def labels_of(expression: str) -> set[tuple[str, str]]:
    """Each metric with a label that is matched by value or summed by."""
    matched = re.findall(r"(oracle_[a-z_]+)\{([^}]*)\}", expression)
    return {(name, label) for name, inner in matched for label in re.findall(r"(\w+)[=!]", inner)}


def test_alerts_and_dashboard_query_metrics_that_exist(names):
    expressions = [rule["expr"] for rule in rules()] + expressions_of_the_dashboard()
    assert all(metrics_of(expression) for expression in expressions)
    assert set().union(*map(metrics_of, expressions)) - names == set()


def test_the_dashboard_shows_every_metric(names):
    shown = set().union(*map(metrics_of, expressions_of_the_dashboard()))
    exceptions = {"oracle_escalations_total", "oracle_variance_checked", "oracle_variance_diverged"}
    assert names - shown == exceptions


def test_an_unknown_metric_would_be_found(names):
    assert metrics_of('rate(oracle_made_up_total{x="y"}[5m]) > oracle_escalated') - names == {
        "oracle_made_up_total"
    }


def test_labels_that_alerts_match_are_those_of_the_metrics():
    """Compared with the page, which lists the labels of each metric."""
    table = dict(re.findall(r"^\| `(oracle_\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    for rule in rules():
        for name, label in labels_of(rule["expr"]):
            assert f"`{label}`" in table[name], rule["alert"]


def test_every_alert_is_documented_and_has_a_severity():
    explained = re.findall(r"^\| `(Oracle\w+)` \|", PAGE, re.MULTILINE)
    assert explained == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]


def test_the_dashboard_panels_do_not_overlap():
    board = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
    taken = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
