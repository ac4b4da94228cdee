from audit.core.printable import printable


def test_what_cannot_be_printed_is_left_out():
    assert printable(" a\x00b\ud800c\x1b[31m\nd ", 100) == "abc[31m\nd"


def test_it_is_no_longer_than_asked_for():
    assert printable("x" * 600, 500) == "x" * 500
