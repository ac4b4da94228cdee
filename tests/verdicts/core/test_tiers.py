import jsonschema
import pytest

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import LABELS, TIERS
from tests.support.verdict_payloads import complete, required_paths
from verdicts.core.tiers import TIER, Price, price_list


def test_the_products_are_the_gates_tiers():
    assert tuple(TIER) == TIERS
    assert all(TIER[name].name == name for name in TIERS)


def test_the_full_breakdown_costs_five_dollars_whatever_the_settings():
    prices = price_list(quick_cents=200, strategy_cents=1500)
    assert prices["full"] == Price(500, "cad")
    assert {name: str(price) for name, price in prices.items()} == {
        "quick": "CA$2.00",
        "full": "CA$5.00",
        "strategy": "CA$15.00",
    }


def test_each_tier_has_its_fields():
    assert [TIER[name].fields for name in TIERS] == [
        ("verdict", "summary"),
        ("verdict", "summary", "breakdown"),
        ("verdict", "summary", "breakdown", "strategy"),
    ]


def test_cents_are_always_shown():
    assert str(Price(1005)) == "CA$10.05"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("label", LABELS)
def test_the_schema_accepts_what_the_gate_accepts(tier, label):
    payload = complete(tier, label)
    jsonschema.validate(payload, TIER[tier].schema)
    assert crosscheck(payload, tier).approved


@pytest.mark.parametrize(
    ("tier", "path"), [(tier, path) for tier in TIERS for path in required_paths(tier)]
)
def test_the_schema_requires_what_the_gate_requires(tier, path):
    payload = complete(tier)
    holder = payload
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(payload, TIER[tier].schema)
