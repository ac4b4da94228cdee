import pytest

from verdicts.core.etags import etag_matches


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ("*", True),
        (' "b" , W/"a"', True),
        ('"b"', False),
        ('"aa"', False),
        ("a", False),
        ('"b,"a"', False),
    ],
)
def test_if_none_match(header, matches):
    assert etag_matches(header, '"a"') is matches
