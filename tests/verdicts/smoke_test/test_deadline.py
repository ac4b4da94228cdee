from verdicts.smoke_test.deadline import LAST_CALL, Deadline


def test_what_is_there_is_found_at_once_even_when_the_time_is_up():
    assert Deadline(0).wait_for("it", lambda: "here") == "here"


def test_what_never_comes_is_waited_for_until_the_time_is_up_and_looked_for_once_more():
    looks = iter([None, None, "late", "never asked for"])
    assert Deadline(30).wait_for("it", lambda: next(looks)) == "late"
    assert next(looks) == "never asked for"
    assert Deadline(0.1).wait_for("it", lambda: None) is None


def test_no_call_lasts_longer_than_all_of_it():
    assert Deadline(5).up_to(40) <= 5
    assert Deadline(60).up_to(10) == 10
    assert Deadline(0).up_to(40) == LAST_CALL
