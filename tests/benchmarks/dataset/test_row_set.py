import pytest

from benchmarks.dataset.row_set import RowSet, copy_text
from verdicts.models import Order, StripeEvent


def test_columns_that_are_not_given_get_the_models_default():
    row_set = RowSet(StripeEvent, "event_id", lambda _: [], {"type": "charge.refunded"})
    fixed = row_set.fixed_columns()
    received = fixed.pop("received_at")
    assert received.startswith("20")
    assert fixed == {
        "type": "charge.refunded",
        "object": "",
        "processed_at": None,
        "outcome": "",
    }


def test_a_column_without_a_default_must_be_given():
    with pytest.raises(ValueError, match=r"Order\.price_cents has no default"):
        RowSet(Order, "id tier", lambda _: []).fixed_columns()


def test_a_line_of_copy_has_placeholders_for_varying_columns():
    row_set = RowSet(StripeEvent, "event_id received_at", lambda _: [], {"object": "100%\t\\"})
    assert row_set.copy_statement() == (
        'COPY "verdicts_stripeevent" ("event_id", "received_at", "type", "object", '
        '"processed_at", "outcome") FROM STDIN'
    )
    assert row_set.copy_line() % ("a", "b") == "a\tb\t\t100%\\t\\\\\t\\N\t\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, r"\N"), (True, "t"), (False, "f"), ({"a": "\\"}, r'{"a": "\\\\"}'), (7, "7")],
)
def test_values_in_copys_text_format(value, text):
    assert copy_text(value) == text
