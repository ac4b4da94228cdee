from audit.core.vocabulary import DIMENSIONS
from tests.verdict_payloads import complete
from verdicts.core.readable import readable


def test_dimensions_come_in_the_documents_order_however_they_were_stored():
    payload = complete("full")
    payload["breakdown"] = dict(sorted(payload["breakdown"].items()))
    reading = readable("full", payload)
    assert tuple(dimension.name for dimension in reading.dimensions) == DIMENSIONS
    assert reading.next_step == ""


def test_what_the_tier_did_not_promise_is_left_out():
    assert readable("quick", complete("strategy")).dimensions == ()
    assert readable("full", complete("strategy")).tests == ()


def test_only_text_counts_as_a_test():
    payload = complete("strategy")
    payload["strategy"]["tests"] = ["One.", " ", {"two": 2}, "Three."]
    assert readable("strategy", payload).tests == ("One.", "Three.")
