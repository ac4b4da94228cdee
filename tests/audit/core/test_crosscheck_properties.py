"""Properties of the gate that hold for every input."""

import copy
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.core.crosscheck import crosscheck
from audit.core.parsing import parse
from audit.core.vocabulary import DIMENSIONS, LABELS, TIERS
from tests.support.verdict_payloads import complete, required_paths

texts = st.text(st.characters(codec=None), max_size=30)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
labels = st.sampled_from([*LABELS, "green", "", "PURPLE"]) | anything
entries = st.fixed_dictionaries({}, optional={"verdict": labels, "analysis": anything}) | anything
verdicts = st.fixed_dictionaries(
    {},
    optional={
        "verdict": labels,
        "summary": anything,
        "breakdown": st.fixed_dictionaries({}, optional=dict.fromkeys(DIMENSIONS, entries))
        | anything,
        "strategy": st.fixed_dictionaries(
            {},
            optional={
                "next_step": anything,
                "alternative": anything,
                "tests": st.lists(anything, max_size=5) | anything,
            },
        )
        | anything,
    },
)
tiers = st.sampled_from(TIERS)


def is_present(payload: dict, path: tuple[str, ...]) -> bool:
    value = payload
    for key in path:
        if not isinstance(value, dict) or value.get(key) is None:
            return False
        value = value[key]
    if path[-1] == "verdict":
        return value in LABELS
    expected = {"breakdown": dict, "strategy": dict, "tests": list}
    if path[-1] in DIMENSIONS:
        return isinstance(value, dict)
    return isinstance(value, expected.get(path[-1], str))


@given(verdicts | anything, tiers)
def test_c_never_exceeds_one_and_nothing_raises(output, tier):
    decision = crosscheck(output, tier)
    assert decision.coherence_score <= 1
    assert decision.crosscheck_reason != "gate_error"
    assert decision.approved == (decision.coherence_score >= decision.threshold)


phrases = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@st.composite
def well_formed_verdicts(draw, blanks: bool = True, among=tiers):
    """A tier and a complete verdict of it, with any labels and texts."""
    tier = draw(among)
    sentences = phrases.map(lambda text: f"Because of {text}.")
    words = phrases | sentences if blanks else sentences
    payload = complete(tier, draw(st.sampled_from(LABELS)))
    payload["summary"] = draw(words)
    for entry in payload.get("breakdown", {}).values():
        entry["analysis"] = draw(words)
        if blanks:
            entry["verdict"] = draw(st.sampled_from(LABELS))
    if "strategy" in payload:
        payload["strategy"]["next_step"] = draw(words)
        payload["strategy"]["tests"] = draw(st.lists(words, min_size=2, max_size=4))
    return tier, payload


def remove(payload: dict, path: tuple[str, ...], replacement: object = None) -> None:
    """Delete the field, or replace it by a value of another type."""
    holder = payload
    for key in path[:-1]:
        if not isinstance(holder, dict) or key not in holder:
            return
        holder = holder[key]
    if isinstance(holder, dict) and path[-1] in holder:
        if replacement is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = replacement


@pytest.mark.parametrize("tier", TIERS)
def test_generated_verdicts_are_often_approved(tier):
    """Otherwise the properties below would hold vacuously."""
    approved = []

    @settings(derandomize=True, database=None)
    @given(well_formed_verdicts(among=st.just(tier)))
    def count(drawn):
        approved.append(crosscheck(drawn[1], tier).approved)

    count()
    assert sum(approved) >= len(approved) / 4


@given(well_formed_verdicts(), st.data())
def test_an_approved_verdict_has_every_required_field(drawn, data):
    tier, payload = drawn
    paths = required_paths(tier)
    for path in data.draw(st.lists(st.sampled_from(paths), max_size=2)):
        remove(payload, path, data.draw(st.sampled_from([None, 7, "text", [], {}])))
    if crosscheck(payload, tier).approved:
        assert all(is_present(payload, path) for path in paths)


@given(well_formed_verdicts(blanks=False), st.data())
def test_a_complete_verdict_without_one_required_field_is_rejected(drawn, data):
    tier, payload = drawn
    whole = crosscheck(payload, tier)
    assert whole.approved
    assert whole.flags == ()
    remove(payload, data.draw(st.sampled_from(required_paths(tier))))
    decision = crosscheck(payload, tier)
    assert not decision.approved
    assert decision.crosscheck_reason == "field_missing"


@given(st.text(st.characters(codec=None)), tiers)
def test_any_text_gets_a_decision(text, tier):
    assert crosscheck(text, tier).crosscheck_reason != "gate_error"


@given(verdicts, tiers)
def test_a_round_trip_through_json_changes_no_decision(payload, tier):
    text = json.dumps(payload)
    if "NaN" in text or "Infinity" in text:
        return
    assert crosscheck(text, tier) == crosscheck(payload, tier)


@given(well_formed_verdicts(blanks=False), anything)
def test_approved_payloads_can_be_stored_as_json(drawn, extra):
    tier, payload = drawn
    payload["extra"] = extra
    if crosscheck(payload, tier).approved:
        stored = json.dumps(payload, allow_nan=False, ensure_ascii=False).encode()
        assert b"\0" not in stored


DEEP = 100_000
PATHOLOGICAL_TEXTS = {
    "deep arrays": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "open brackets": "[" * DEEP,
    "a huge number": '{"verdict": ' + "9" * DEEP + "}",
    "a number beyond doubles": '{"verdict": "GREEN", "summary": "Long enough.", "x": 1e999}',
    "a long string": json.dumps({"verdict": "GREEN", "summary": "x" * 10_000_000}),
    "many keys": json.dumps({str(n): n for n in range(200_000)}),
    "many escapes": '{"summary": "' + "\\u0041" * 500_000 + '"}',
    "backticks": "`" * 1_000_000,
    "whitespace": " " * 1_000_000,
    "fences": "```\n" * 200_000,
}


@pytest.mark.parametrize("text", PATHOLOGICAL_TEXTS.values(), ids=PATHOLOGICAL_TEXTS)
def test_pathological_text_gets_a_decision(text):
    assert crosscheck(text, "quick").crosscheck_reason in (
        "pass",
        "field_missing",
        "degenerate_manifold",
    )


def nested(levels: int) -> dict:
    payload = complete("quick")
    inner = payload
    for _ in range(levels):
        inner["deeper"] = {}
        inner = inner["deeper"]
    return payload


def test_the_depth_limit_is_independent_of_the_callers_stack():
    """A hundred levels, including the outermost."""
    for deep, approved in ((nested(99), True), (nested(100), False)):
        for output in (deep, json.dumps(deep)):
            decision = crosscheck(output, "quick")
            assert decision.approved is approved
            assert ("malformed_json" in decision.flags) is not approved
        assert (parse(json.dumps(deep)) is not None) is approved


def test_circular_objects_are_malformed():
    circular = complete("quick")
    circular["self"] = circular
    assert "malformed_json" in crosscheck(circular, "quick").flags


def test_shared_references_do_not_multiply_the_work():
    payload = complete("quick")
    level: list = []
    for _ in range(90):  # 10 to the power of 90 values, if each were visited
        level = [level] * 10
    payload["bomb"] = level
    assert "malformed_json" in crosscheck(payload, "quick").flags


def steps(size: int) -> int:
    """The number of Python lines executed for an input of `size`: deterministic, unlike time."""
    payload = complete("quick")
    payload["extra"] = [{"a": [str(n), "é", n]} for n in range(size)]
    text = json.dumps(payload)
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        assert crosscheck(text, "quick").approved
    finally:
        sys.settrace(None)
    return count


def test_the_work_is_linear_in_the_size():
    assert steps(8_000) / steps(1_000) < 8.1


def test_equal_readings_share_one_decision():
    first, second = complete("full"), copy.deepcopy(complete("full"))
    second["summary"] = "Another summary that is long enough as well."
    assert crosscheck(first, "full") is crosscheck(second, "full")
