import pytest

from audit.core.reading import Reading, Strategy, read
from audit.core.vocabulary import DIMENSIONS
from tests.support.verdict_payloads import complete, required_paths


def reading_of(payload: dict, tier: str) -> Reading:
    return read(payload, tier)[0]


@pytest.mark.parametrize(("tier", "count"), [("quick", 1), ("full", 6), ("strategy", 11)])
def test_every_text_of_a_complete_verdict_is_read(tier, count):
    _, texts = read(complete(tier), tier)
    assert len(texts) == count


@pytest.mark.parametrize("path", [(), ("breakdown",), ("breakdown", "Stability"), ("strategy",)])
def test_an_extra_field_is_reported_at_any_level(path):
    payload = complete("strategy")
    holder = payload
    for key in path:
        holder = holder[key]
    holder["extra"] = "text"
    assert read(payload, "strategy")[1] is None


@pytest.mark.parametrize("path", required_paths("strategy"))
def test_a_value_of_the_wrong_type_is_reported(path):
    payload = complete("strategy")
    holder = payload
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = {"unexpected": ["\0"]}
    assert read(payload, "strategy")[1] is None


def test_a_test_that_is_not_text_is_reported():
    payload = complete("strategy")
    payload["strategy"]["tests"][0] = 1
    assert read(payload, "strategy")[1] is None


@pytest.mark.parametrize(
    ("summary", "state"),
    [
        (None, "missing"),
        (["A list of words"], "missing"),
        ("", "empty"),
        (" \n\u00a0", "empty"),
        ("  123456789  ", "short"),
        ("  1234567890  ", "present"),
    ],
)
def test_summary_state(summary, state):
    assert reading_of({"summary": summary}, "quick").summary == state


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"verdict": "RED", "analysis": "Why."}, "present"),
        ({"verdict": "RED", "analysis": "  "}, "empty"),
        ({"verdict": "RED"}, "unanalysed"),
        ({"verdict": "RED", "analysis": 1}, "unanalysed"),
        ({"verdict": "red", "analysis": "Why."}, "unlabelled"),
        ({"verdict": ["RED"], "analysis": ""}, "unlabelled"),
        ({"verdict": None}, "bare"),
        ({}, "bare"),
        ("RED", "missing"),
        (None, "missing"),
    ],
)
def test_dimension_state(entry, state):
    reading = reading_of({"breakdown": {"Completion": entry}}, "full")
    assert reading.dimensions == ("missing", "missing", "missing", state, "missing")


@pytest.mark.parametrize(
    ("top", "labels", "conflicting"),
    [
        ("GREEN", "RED RED RED GREEN GREEN", "RED"),
        ("RED", "RED RED RED GREEN GREEN", None),
        ("AMBER", "RED RED GREEN GREEN AMBER", None),
        ("AMBER", "RED RED GREEN GREEN", None),
        ("AMBER", "RED", "RED"),
        ("AMBER", "NULL NULL NULL", "NULL"),
        ("AMBER", "", None),
        ("NULL", "RED RED RED RED RED", None),
        ("mauve", "RED RED RED RED RED", None),
    ],
)
def test_conflicting_label(top, labels, conflicting):
    breakdown = {
        name: {"verdict": label, "analysis": "Why."}
        for name, label in zip(DIMENSIONS, labels.split(), strict=False)
    }
    reading = reading_of({"verdict": top, "breakdown": breakdown}, "full")
    assert reading.conflicting_label == conflicting


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (None, Strategy(False, "missing", "missing", None)),
        ([], Strategy(False, "missing", "missing", None)),
        ({}, Strategy(False, "missing", "missing", None)),
        ({"next_step": ""}, Strategy(True, "empty", "missing", None)),
        ({"tests": "one"}, Strategy(True, "missing", "missing", None)),
        ({"tests": []}, Strategy(True, "missing", "missing", 0)),
        ({"tests": ["a", " ", 3, None, "b"]}, Strategy(True, "missing", "missing", 2)),
        ({"tests": list("abcde")}, Strategy(True, "missing", "missing", 3)),
    ],
)
def test_strategy_state(block, expected):
    assert reading_of({"strategy": block}, "strategy").strategy == expected
