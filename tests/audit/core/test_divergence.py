import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.core.divergence import Provenance, attribute, classify, compare_dimensions
from audit.core.vocabulary import LABELS, UNKNOWN
from tests.support.vectors import load
from tests.support.verdict_payloads import complete

labels = st.sampled_from([*LABELS, UNKNOWN])
BASE = Provenance("prompt-digest", "config", "gemini-2.5-flash", "001")


@pytest.mark.parametrize(
    "vector", load("divergence"), ids=lambda vector: f"{vector['original']}-{vector['regen']}"
)
def test_vector(vector):
    assert classify(vector["original"], vector["regen"]) == vector["level"]


@given(labels, labels)
def test_classify_is_symmetric(one, other):
    assert classify(one, other) == classify(other, one)


@pytest.mark.parametrize("label", ["green", "", "PURPLE"])
def test_an_invalid_label_is_rejected(label):
    with pytest.raises(ValueError, match="not a verdict label"):
        classify("GREEN", label)


def test_dimensions_are_compared_one_by_one():
    original, regen = complete("full", "GREEN"), complete("full", "GREEN")
    regen["breakdown"]["Turbulence"]["verdict"] = "RED"
    regen["breakdown"]["Curvature"]["analysis"] = "Another reason."
    changes = {change.dimension: change for change in compare_dimensions("full", original, regen)}
    assert list(changes) == ["Stability", "Turbulence", "Change Rate", "Completion", "Curvature"]
    assert changes["Stability"].level == "none"
    assert changes["Stability"].same_analysis
    assert changes["Turbulence"][1:4] == ("GREEN", "RED", "significant")
    assert changes["Curvature"].level == "none"
    assert not changes["Curvature"].same_analysis


def test_a_quick_verdict_has_no_dimensions_to_compare():
    assert compare_dimensions("quick", complete("full"), complete("full")) == ()


def test_a_dimension_missing_on_one_side_is_unknown():
    regen = complete("full")
    del regen["breakdown"]["Completion"]
    regen["breakdown"]["Stability"] = "gone"
    changes = {
        change.dimension: change for change in compare_dimensions("full", complete("full"), regen)
    }
    assert changes["Completion"][1:4] == ("GREEN", UNKNOWN, None)
    assert changes["Stability"][1:4] == ("GREEN", UNKNOWN, None)


def test_two_missing_analyses_are_not_equal():
    bare = {"breakdown": {"Stability": {"verdict": "RED"}}}
    (change,) = compare_dimensions("full", bare, bare)
    assert not change.same_analysis


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({}, ("infrastructure",)),
        ({"prompt_sha256": "another"}, ("prompt",)),
        ({"config": "another"}, ("config",)),
        ({"model": "gemini-3.5-flash"}, ("model",)),
        ({"model_version": "002"}, ("model",)),
        ({"model_version": ""}, ("infrastructure",)),
        ({"prompt_sha256": "another", "model": "another"}, ("prompt", "model")),
    ],
)
def test_a_divergence_is_attributed_to_what_changed(change, causes):
    assert attribute(BASE, BASE._replace(**change)) == causes


def test_without_provenance_the_cause_is_unknown():
    assert attribute(None, BASE) == ("unknown",)
