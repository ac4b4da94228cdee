import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stripe_objects import session_object
from verdicts.core.prompt import QueryError, clean_query
from verdicts.core.sessions import (
    CheckoutSession,
    is_session_id,
    metadata,
    read_session,
    session_number,
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def test_session_numbers_are_stable():
    """They are stored as index keys: other numbers would make every lookup miss."""
    assert session_number("cs_test_a1B2c3D4e5") == 6514598258332515093
    assert 0 <= session_number("cs_live_" + "z" * 200) < 2**63


def test_every_field_of_a_session_is_read():
    assert read_session(session_object()) == CheckoutSession(
        id="cs_test_a1B2c3D4e5",
        tier="full",
        query="Should I open a bakery?",
        email="buyer@example.com",
        amount_cents=500,
        currency="cad",
        payment="paid",
        created=1_700_000_000,
        complete=True,
        payment_intent="pi_123",
        reference="",
    )


@given(st.text(min_size=1, max_size=4_000))
def test_a_query_round_trips_through_metadata(text):
    try:
        query = clean_query(text)
    except QueryError:
        return
    chunks = metadata("quick", query)
    assert all(len(value) <= 500 for value in chunks.values())
    assert len(chunks) <= 9
    assert read_session(session_object(metadata=chunks)).query == query


def test_the_longest_query_fills_all_chunks():
    assert list(metadata("full", "🍁" * 4_000)) == ["tier", *(f"query_{n}" for n in range(8))]
    with pytest.raises(ValueError, match="clean_query was not called"):
        metadata("full", "x" * 4_001)


def test_the_query_can_be_a_custom_field():
    fields = [
        {"key": "colour", "text": {"value": "red"}},
        {"key": "query", "text": {"value": "A bakery?\r\nReally?"}},
    ]
    raw = session_object(metadata={"tier": "quick"}, custom_fields=fields)
    assert read_session(raw).query == "A bakery?\nReally?"


@pytest.mark.parametrize("session_id", ["cs_test_short", None, 7, ["cs_test_a1B2c3D4e5"]])
def test_other_objects_are_none(session_id):
    assert read_session(session_object(id=session_id)) is None
    assert read_session([session_object()]) is None


@pytest.mark.parametrize(
    ("metadata", "tier", "query"),
    [
        ({"tier": "gold", "query_0": "Should I?"}, None, "Should I?"),
        ({"tier": "full"}, "full", None),
        ({"tier": "full", "query_1": "the first chunk is gone"}, "full", None),
        (None, None, None),
        ({"tier": ["full"], "query_0": "x"}, None, "x"),
        ({"tier": "full", "query_0": "\x00"}, "full", None),
    ],
)
def test_invalid_metadata_is_treated_as_absent(metadata, tier, query):
    session = read_session(session_object(metadata=metadata))
    assert (session.tier, session.query) == (tier, query)


@pytest.mark.parametrize("odd", ["\0", "pi\ud800", "x" * 256, "a b", ""])
def test_malformed_identifiers_are_treated_as_absent(odd):
    session = read_session(session_object(currency=odd, payment_intent=odd))
    assert (session.currency, session.payment_intent) == ("", "")


@pytest.mark.parametrize(
    ("email", "kept"),
    [
        ("a@b.example", "a@b.example"),
        ("a@b\r\nBcc: everyone@b.example", ""),
        ("no address", ""),
        ("a\ud800@b.example", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_only_a_valid_address_is_kept(email, kept):
    raw = session_object(customer_details={"email": email}, customer_email=None)
    assert read_session(raw).email == kept


def test_an_expanded_payment_intent_is_read_as_its_id():
    assert read_session(session_object(payment_intent={"id": "pi_9"})).payment_intent == "pi_9"


@given(st.dictionaries(st.sampled_from(list(session_object())), anything), anything)
def test_arbitrary_objects_never_raise(changes, other):
    read_session(session_object(**changes))
    read_session(other)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("cs_test_a1B2c3D4", True),
        ("cs_live_" + "x" * 200, True),
        ("cs_test_a1B2c3D", False),
        ("cs_live_" + "x" * 201, False),
        ("cs_test_a1B2c3D4\n", False),
        ("CS_test_a1B2c3D4", False),
        ("cs_test_a1B2-3D4", False),
        ("", False),
    ],
)
def test_session_id_format(text, valid):
    assert is_session_id(text) is valid
