"""Arbitrary webhook bodies are either a valid event or rejected, by signature or by shape."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stripe_objects import EVENT, SECRET, signature
from tests.verdicts.core.test_sessions import anything
from verdicts.core.errors import BadEvent, BadSignature
from verdicts.payments.client import Event, read_event

BODY = json.dumps(EVENT).encode()


@given(st.binary(max_size=300) | anything.map(lambda value: json.dumps(value).encode()))
def test_any_signed_body_is_an_event_or_rejected(body):
    with suppress(BadEvent):
        assert_event(read_event(body, signature(body), [SECRET]))


@given(st.fixed_dictionaries({"id": anything, "type": anything, "data": anything}))
def test_a_malformed_event_is_rejected(raw):
    body = json.dumps(raw).encode()
    with suppress(BadEvent):
        assert_event(read_event(body, signature(body), [SECRET]))


def assert_event(event: Event) -> None:
    assert isinstance(event.object, dict)
    assert event.id.isascii()
    assert event.type.isascii()
    assert event.id.isprintable()
    json.dumps(event.object).encode()


@given(st.text(max_size=300))
def test_arbitrary_signatures_are_rejected(header):
    with pytest.raises(BadSignature):
        read_event(BODY, header, [SECRET])


@given(st.binary(min_size=1, max_size=20), st.integers(0, len(BODY)))
def test_a_body_changed_after_signing_is_rejected(more, place):
    forged = BODY[:place] + more + BODY[place:]
    with pytest.raises((BadSignature, BadEvent)):
        read_event(forged, signature(BODY), [SECRET])
