import pytest

from audit.core.vocabulary import DIMENSIONS
from tests.support.verdict_payloads import complete
from verdicts.core.presentation import readable, shown, unlinked, without_links


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


def test_what_steers_is_left_out_wherever_it_stands():
    odd = "a\x00\x1b[2J\x9b\u202eb\u2066\u2069\nc\td\r"
    assert shown(odd) == "a[2Jb\nc\td"
    payload = complete("strategy")
    payload["summary"] = payload["strategy"]["next_step"] = odd
    payload["breakdown"]["Stability"]["analysis"] = odd
    payload["strategy"] |= {"alternative": odd, "tests": [odd, odd, odd]}
    told = repr(readable("strategy", payload))  # which spells out what cannot be printed
    assert r"\x1b" not in told
    assert r"\u202e" not in told


@pytest.mark.parametrize(
    "text", ["Tea, e.g. green", "3.5 of 10", "at 10:30", "and/or", "Yes. No", ""]
)
def test_what_is_no_address_is_left_as_it_is(text):
    assert unlinked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/x",
        "(www.evil.example)",
        "evil.com,",
        "pay@evil.example",
        "mailto:a",
        "tel:+1900",
        "evil。com",
        r"\\evil\share",
    ],
)
def test_no_mail_program_finds_an_address(text):
    parted = unlinked(f"See {text} today")
    assert parted.replace("\u200b", "") == f"See {text} today"
    assert all(sign + "\u200b" in parted for sign in ".:/@。\\" if sign in text)


def test_every_text_of_a_verdict_is_parted():
    payload = complete("strategy")
    address = "a.evil.example is long enough to be taken"
    payload["summary"] = payload["strategy"]["next_step"] = address
    for entry in payload["breakdown"].values():
        entry["analysis"] = address
    payload["strategy"] |= {"alternative": address, "tests": [address, address, address]}
    assert "evil.example" not in str(without_links(readable("strategy", payload)))
