from verdicts.smoke_test.deadline import MIN_TIMEOUT, Deadline


def test_it_polls_once_even_after_the_deadline():
    assert Deadline(0).wait_for("it", lambda: "here") == "here"


def test_it_polls_until_there_is_a_result_or_the_deadline_has_passed():
    results = iter([None, None, "late", "not polled"])
    assert Deadline(30).wait_for("it", lambda: next(results)) == "late"
    assert next(results) == "not polled"
    assert Deadline(0.1).wait_for("it", lambda: None) is None


def test_a_timeout_is_bounded_by_the_deadline():
    assert Deadline(5).timeout(40) <= 5
    assert Deadline(60).timeout(10) == 10
    assert Deadline(0).timeout(40) == MIN_TIMEOUT
