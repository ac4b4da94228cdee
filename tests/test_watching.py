"""What operators are told is what there is: the page against the metrics themselves."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from verdicts.operators.exposition import Exposition
from verdicts.operators.readiness import readiness

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/WATCHING.md").read_text()
METRIC = re.compile(r"\boracle_[a-z_]+\b")


@pytest.fixture
def families(db):
    return list(text_string_to_metric_families(Exposition().text().decode()))


@pytest.fixture
def names(families) -> set[str]:
    """Every name that a query can ask for."""
    ends = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    found = {f"{one.name}{end}" for one in families for end in ends[one.type]}
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
