import copy
import json

import pytest

from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from tests.support.vectors import load
from tests.support.verdict_payloads import complete

VECTORS = load("crosscheck")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vector(vector):
    output = vector["text"] if "text" in vector else vector["payload"]
    decision = crosscheck(output, vector["tier"]).as_dict()
    assert {key: decision[key] for key in vector["expect"]} == vector["expect"]


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if "payload" in v], ids=lambda vector: vector["name"]
)
def test_text_and_parsed_object_get_equal_decisions(vector):
    payload, tier = vector["payload"], vector["tier"]
    assert crosscheck(json.dumps(payload), tier) == crosscheck(payload, tier)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_contributions_add_up_to_the_terms(vector):
    output = vector["text"] if "text" in vector else vector["payload"]
    decision = crosscheck(output, vector["tier"])
    terms = {"V_t": [0.0], "V_r": [0.0], "E_D": [0.0]}
    for contribution in decision.contributions:
        terms[contribution.term].append(contribution.amount)
    assert max(1.0, sum(terms["V_t"])) == decision.v_t
    assert sum(terms["V_r"]) == decision.v_r
    assert max(terms["E_D"]) == decision.e_d
    flags = {c.flag for c in decision.contributions if c.flag}
    assert flags == set(decision.flags) - {"degenerate_manifold"}


def test_the_decision_has_the_documents_keys_first():
    assert list(crosscheck(complete("quick"), "quick").as_dict()) == [
        "approved",
        "coherence_score",
        "threshold",
        "verdict_label",
        "flags",
        "crosscheck_reason",
        "v_t",
        "v_r",
        "e_d",
    ]


def test_a_decision_is_immutable():
    decision = crosscheck("", "quick")
    with pytest.raises(AttributeError):
        decision.approved = True


def test_the_payload_is_not_modified():
    payload = complete("strategy")
    before = copy.deepcopy(payload)
    crosscheck(payload, "strategy")
    assert payload == before


def test_a_contribution_has_the_path_of_the_field():
    payload = complete("full")
    payload["breakdown"]["Curvature"]["analysis"] = " "
    faults = [c for c in crosscheck(payload, "full").contributions if c.term != "V_t"]
    assert [(c.term, c.where, c.amount) for c in faults] == [
        ("V_r", "breakdown.Curvature.analysis", 0.5)
    ]


def test_without_a_top_level_label_there_is_no_conflict():
    payload = complete("full", "RED")
    payload["verdict"] = "GRÜN"
    decision = crosscheck(payload, "full")
    assert decision.crosscheck_reason == "field_missing"
    assert "dimension_conflict" not in decision.flags


def test_null_over_unlabelled_dimensions_is_not_contradictory():
    payload = complete("full", "NULL")
    for entry in payload["breakdown"].values():
        entry["verdict"] = "?"
    assert "contradictory_null" not in crosscheck(payload, "full").flags


def test_a_majority_of_the_labelled_dimensions_is_enough():
    payload = complete("full", "RED")
    payload["verdict"] = "GREEN"
    for name in ("Stability", "Turbulence", "Curvature"):
        payload["breakdown"][name]["verdict"] = "?"
    assert "dimension_conflict" in crosscheck(payload, "full").flags


def test_a_majority_of_null_conflicts_with_green():
    payload = complete("full", "NULL")
    payload["verdict"] = "GREEN"
    assert "dimension_conflict" in crosscheck(payload, "full").flags


def test_a_strategy_block_of_unknown_fields_counts_as_present():
    payload = complete("strategy")
    payload["strategy"] = {"motto": "Onwards."}
    decision = crosscheck(payload, "strategy")
    assert decision.v_t == 8.0
    assert decision.flags == ("field_missing", "too_few_tests")


@pytest.mark.parametrize("tier", ["quick", "full", "strategy"])
def test_extra_fields_do_not_change_the_decision(tier):
    payload = complete(tier)
    plain = crosscheck(payload, tier)
    payload["confidence"] = {"value": 0.9, "basis": [None, True, 3]}
    assert crosscheck(payload, tier) == plain


@pytest.mark.parametrize("tier", ["quick", "full", "strategy"])
@pytest.mark.parametrize(
    "unstorable", ["\0", "\ud800", float("nan"), float("inf"), {1: 2}, {"a\0": 1}, object(), (1,)]
)
def test_unstorable_values_are_malformed_in_any_field(tier, unstorable):
    payload = complete(tier)
    payload["extra"] = {"deep": [unstorable]}
    assert crosscheck(payload, tier).flags == ("degenerate_manifold", "malformed_json")


@pytest.mark.parametrize("bad", ["\0", "\udfff"])
def test_unstorable_characters_in_a_required_field_are_malformed(bad):
    payload = complete("strategy")
    payload["strategy"]["tests"][2] += bad
    assert "malformed_json" in crosscheck(payload, "strategy").flags


def test_the_size_limits_apply_to_a_long_list_of_tests():
    payload = complete("strategy")
    payload["strategy"]["tests"] = ["s" * 1_000_000] * 3_000
    assert "malformed_json" in crosscheck(payload, "strategy").flags
    payload["strategy"]["tests"] = ["A test."] * 3_000
    assert crosscheck(payload, "strategy").approved


@pytest.mark.parametrize("error", [TypeError, MemoryError, KeyError])
def test_an_exception_in_the_gate_fails_closed(monkeypatch, error):
    def fail(*_):
        raise error("some of the model's text")

    monkeypatch.setattr("audit.core.crosscheck.read", fail)
    decision = crosscheck(complete("quick"), "quick")
    assert (decision.approved, decision.crosscheck_reason) == (False, "gate_error")
    assert decision.error.startswith(f"{error.__name__} in fail:")


@pytest.mark.parametrize("output", [complete("quick"), "", None])
def test_an_unknown_tier_is_an_error_whatever_the_output(output):
    decision = crosscheck(output, "platinum")
    assert not decision.approved
    assert decision.crosscheck_reason == "gate_error"
    assert decision.coherence_score is None
    assert decision.threshold == OMEGA
    assert decision.verdict_label == "UNKNOWN"
    assert decision.error.startswith("ValueError in _require_known_tier:")
