"""The nesting limit, independent of the Python version."""

import json
import sys

import pytest

from audit.core.json_depth import MAX_DEPTH, loads

PAIRS = {"arrays": ("[", "]"), "objects": ('{"a":', "}"), "both": ('[{"a":', "}]")}


@pytest.mark.parametrize(("opening", "closing"), PAIRS.values(), ids=PAIRS)
def test_a_hundred_levels_are_parsed_and_one_more_is_rejected(opening, closing):
    levels = MAX_DEPTH // (opening.count("[") + opening.count("{"))
    text = f"{opening * levels}1{closing * levels}"
    assert loads(text) == json.loads(text)
    for deeper in (f"[{text}]", f'{{"b": {text}}}', f"[0, {text}, 0]"):
        with pytest.raises(ValueError, match="nested too deeply"):
            loads(deeper)


@pytest.mark.parametrize("depth", [1_000, 100_000, 1_000_000])
@pytest.mark.parametrize("closing", ["]", ""])
def test_any_depth_is_rejected_without_a_recursion_error(depth, closing):
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * depth + closing * depth)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 500,
        '\\"[' * 500,
        "\\" * 501 + "[" * 500,
        {'"' + "{" * 500: "\n["},
        [[], {}] * 500,
        {str(number): [number] for number in range(500)},
    ],
    ids=["text", "quotes", "backslashes", "a key", "many empty ones", "many full ones"],
)
def test_brackets_in_strings_and_in_sequence_are_not_nesting(value):
    assert loads(json.dumps(value)) == value
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * MAX_DEPTH + json.dumps([value]) + "]" * MAX_DEPTH)


@pytest.mark.parametrize("text", ["", "[" + '"' * 200, "]" * 500 + "[" * 100, "{" * 101 + '"\\'])
def test_invalid_json_raises_the_same_error(text):
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_a_caller_deep_in_the_stack_gets_the_same_error():
    def from_below(levels: int) -> object:
        return from_below(levels - 1) if levels else loads("[" * 90 + "]" * 90)

    outcomes = set()
    for levels in range(sys.getrecursionlimit() - 150, sys.getrecursionlimit()):
        try:
            from_below(levels)
        except ValueError:
            outcomes.add("refused")
        except RecursionError:
            break  # the stack is too full even for the call itself
        else:
            outcomes.add("read")
    assert "read" in outcomes
