import pytest

from audit.core.vocabulary import DIMENSIONS
from tests.support.verdict_payloads import complete
from verdicts.core.presentation import defang, defang_text, present, strip_control_characters


def test_dimensions_are_in_the_documents_order_however_stored():
    payload = complete("full")
    payload["breakdown"] = dict(sorted(payload["breakdown"].items()))
    verdict = present("full", payload)
    assert tuple(dimension.name for dimension in verdict.dimensions) == DIMENSIONS
    assert verdict.next_step == ""


def test_fields_outside_the_tier_are_dropped():
    assert present("quick", complete("strategy")).dimensions == ()
    assert present("full", complete("strategy")).tests == ()


def test_only_text_counts_as_a_test():
    payload = complete("strategy")
    payload["strategy"]["tests"] = ["One.", " ", {"two": 2}, "Three."]
    assert present("strategy", payload).tests == ("One.", "Three.")


def test_control_and_bidi_characters_are_removed_from_every_field():
    odd = "a\x00\x1b[2J\x9b\u202eb\u2066\u2069\nc\td\r"
    assert strip_control_characters(odd) == "a[2Jb\nc\td"
    payload = complete("strategy")
    payload["summary"] = payload["strategy"]["next_step"] = odd
    payload["breakdown"]["Stability"]["analysis"] = odd
    payload["strategy"] |= {"alternative": odd, "tests": [odd, odd, odd]}
    escaped = repr(present("strategy", payload))
    assert r"\x1b" not in escaped
    assert r"\u202e" not in escaped


@pytest.mark.parametrize(
    "text", ["Tea, e.g. green", "3.5 of 10", "at 10:30", "and/or", "Yes. No", ""]
)
def test_text_without_an_address_is_unchanged(text):
    assert defang_text(text) == text


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
def test_addresses_are_defanged(text):
    defanged = defang_text(f"See {text} today")
    assert defanged.replace("\u200b", "") == f"See {text} today"
    assert all(sign + "\u200b" in defanged for sign in ".:/@。\\" if sign in text)


def test_every_text_of_a_verdict_is_defanged():
    payload = complete("strategy")
    address = "a.evil.example is long enough to be taken"
    payload["summary"] = payload["strategy"]["next_step"] = address
    for entry in payload["breakdown"].values():
        entry["analysis"] = address
    payload["strategy"] |= {"alternative": address, "tests": [address, address, address]}
    assert "evil.example" not in str(defang(present("strategy", payload)))
