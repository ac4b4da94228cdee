import pytest

from audit.core.calibration.corpus import CorpusError, Entry, read_entries, to_line


def test_what_is_written_is_read_again_a_lone_surrogate_included():
    entry = Entry("quick", '{"verdict": "\ud83d"}', should_pass=False)
    line = to_line(entry, damage="lone surrogate or NUL")
    assert line.isascii()
    assert line.count("\n") == 1
    assert list(read_entries([line, "\n"])) == [entry]


def test_a_line_that_does_not_fit_is_named_by_its_number():
    with pytest.raises(CorpusError, match="Line 3 needs a tier"):
        list(read_entries(['{"tier": "quick", "output": ""}', "", '{"tier": [], "output": ""}']))
