import pytest

from verdicts.core.etags import has_it


@pytest.mark.parametrize(
    ("header", "answer"),
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
def test_who_has_it(header, answer):
    assert has_it(header, '"a"') is answer
