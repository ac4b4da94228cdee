import pytest

from audit.core.calibration.corpus import CorpusError, Entry, read_entries, to_line


def test_an_entry_round_trips_even_with_a_lone_surrogate():
    entry = Entry("quick", '{"verdict": "\ud83d"}', should_pass=False)
    line = to_line(entry, mutation="lone surrogate or NUL")
    assert line.isascii()
    assert line.count("\n") == 1
    assert list(read_entries([line, "\n"])) == [entry]


def test_an_error_has_the_line_number():
    with pytest.raises(CorpusError, match="Line 3 needs a tier"):
        list(read_entries(['{"tier": "quick", "output": ""}', "", '{"tier": [], "output": ""}']))
