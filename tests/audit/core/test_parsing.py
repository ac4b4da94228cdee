from collections import OrderedDict

import pytest

from audit.core.parsing import is_clean, is_clean_without_escapes, is_storable, parse

OBJECT = '{"verdict": "GREEN"}'


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f" \r\n\t{OBJECT}\n",
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```\n",
        f"```JSON\r\n{OBJECT}\r\n```",
    ],
)
def test_an_object_is_parsed_with_or_without_one_fence(text):
    assert parse(text) == {"verdict": "GREEN"}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n```json\n{OBJECT}\n```\n```",
        f"Here it is:\n```json\n{OBJECT}\n```",
        f"```json\n{OBJECT}\n```\nHope this helps!",
        f"```json\n{OBJECT}",
        f"```{OBJECT}```",
        f"```json please\n{OBJECT}\n```",
        f"````json\n{OBJECT}\n````",
        f"{OBJECT}\n```",
        "``````",
        "```\n```",
        f"\ufeff{OBJECT}",
        f"\u00a0{OBJECT}",
        f"[{OBJECT}]",
        '"GREEN"',
        "null",
        '{"verdict": "GREEN",}',
        "{'verdict': 'GREEN'}",
        '{"verdict": Infinity}',
        '{"a": {"b": 1, "b": 1}}',
        '{"summary": "a raw\nline break"}',
        '{"n": ' + "1" * 5_000 + "}",
    ],
)
def test_other_text_is_malformed(text):
    assert parse(text) is None


@pytest.mark.parametrize("output", [None, 1, b'{"verdict": "GREEN"}', [], ()])
def test_other_types_are_malformed(output):
    assert parse(output) is None


def test_an_escaped_surrogate_pair_is_one_clean_character():
    payload = parse('{"summary": "\\ud83c\\udf41"}')
    assert payload == {"summary": "🍁"}
    assert is_storable(payload)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (OBJECT, True),
        ('{"summary": "’ 判断 🍁"}', True),
        ('{"summary": "\\u0000"}', False),
        ('{"summary": "\\n"}', False),  # clean, but it has an escape
        ('{"summary": "\ud800"}', False),
        ('{"summary": "\udf41 after ’"}', False),
    ],
)
def test_text_without_escapes_is_clean_if_its_characters_are(text, clean):
    assert is_clean_without_escapes(text) is clean


def test_two_adjacent_lone_surrogates_are_not_clean():
    assert not is_clean(["\ud83c", "\udf41"])


@pytest.mark.parametrize("extra", ["\0", float("nan"), object()])
def test_a_subclass_of_dict_is_malformed(extra):
    assert parse(OrderedDict(verdict="GREEN", summary="Long enough text.", extra=extra)) is None


def test_an_integer_beyond_a_double_is_not_storable():
    assert is_storable({"n": 10**308})
    assert not is_storable({"n": 10**309})
    assert not is_storable({"n": -(10**5_000)})


def test_shared_parts_count_each_time_towards_the_limits():
    assert not is_storable({"x": [[0] * 4_000] * 4_000})
    assert not is_storable({"x": ["s" * 1_000_000] * 3_000})
    assert parse('{"x": "' + "s" * 16_000_000 + '"}') is None


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "text", [], {}, [[{"a": [1]}]]])
def test_json_values_are_storable(value):
    assert is_storable({"a": value})
