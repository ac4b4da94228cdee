from audit.core.printable import printable


def test_unprintable_characters_are_removed():
    assert printable(" a\x00b\ud800c\x1b[31m\nd ", 100) == "abc[31m\nd"


def test_the_text_is_truncated():
    assert printable("x" * 600, 500) == "x" * 500
