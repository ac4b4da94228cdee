from audit.core.annotation import annotate, escape_invisible, find_json_error, notes_from
from audit.core.crosscheck import crosscheck
from audit.core.parsing import parse


def notes_by_key(output: str, tier: str) -> dict[str, tuple[str, ...]]:
    decision = crosscheck(output, tier)
    notes = notes_from(c._asdict() for c in decision.contributions)
    lines = annotate(parse(output), notes)
    return {line.key: tuple(note.what for note in line.notes) for line in lines if line.notes}


def test_a_finding_is_on_the_line_of_its_field():
    found = notes_by_key('{"verdict": "GREEN", "summary": "Go."}', "quick")
    assert found == {"summary": ("empty or under 10 characters",)}


def test_a_missing_field_has_its_own_line():
    output = '{"verdict": "GREEN", "breakdown": {"Stability": {"verdict": "RED", "analysis": ""}}}'
    found = notes_by_key(output, "strategy")
    assert found["Turbulence"] == ("missing",)
    assert found["analysis"] == ("no analysis",)
    assert found["summary"] == ("empty or under 10 characters", "missing")
    assert found["strategy"] == ("no strategy block", "missing", "fewer than 2")


def test_every_finding_is_shown():
    for output in ('{"breakdown": "text"}', '{"strategy": []}', "{}", '{"breakdown": {"x": 1}}'):
        decision = crosscheck(output, "strategy")
        notes = notes_from(c._asdict() for c in decision.contributions)
        shown = {note for line in annotate(parse(output), notes) for note in line.notes}
        assert shown == set(notes), output


def test_every_text_of_the_output_is_shown():
    output = '{"verdict": "RED", "more": {"deep": [{"a": "one"}, "two", 3, null]}, "empty": ""}'
    texts = [line.text for line in annotate(parse(output), [])]
    assert texts == ["RED", "", "", "", "one", "two", "3", "null", '""']


def test_the_error_of_malformed_output_is_located():
    error = find_json_error('{"verdict": GREEN}')
    assert (error.before, error.at, error.after) == ('{"verdict": ', "G", "REEN}")
    assert find_json_error('{"a": "b').at
    assert find_json_error("[]").why == "JSON, but not an object"
    assert find_json_error("{" + '"a":{' * 100 + "}" * 101).why == "nested too deeply"
    assert "duplicate" in find_json_error('{"a": 1, "a": 2}').why


def test_invisible_characters_are_escaped():
    assert escape_invisible("a\u202eb\x00\ud800\n") == "a\\u202eb\\x00\\ud800\n"
    assert escape_invisible("Grün – 見") == "Grün – 見"
