import pytest

from benchmarks.dataset.row_set import RowSet, copy_text
from verdicts.models import Order, StripeEvent


def test_columns_that_nobody_names_take_the_models_default():
    shape = RowSet(StripeEvent, "event_id", lambda _: [], {"type": "charge.refunded"})
    constants = shape.constants()
    received = constants.pop("received_at")
    assert received.startswith("20")
    assert constants == {
        "type": "charge.refunded",
        "object": "",
        "processed_at": None,
        "outcome": "",
    }


def test_a_column_without_a_default_is_asked_for():
    with pytest.raises(ValueError, match=r"Order\.price_cents has no default"):
        RowSet(Order, "id tier", lambda _: []).constants()


def test_one_line_of_copy_leaves_room_for_what_varies():
    shape = RowSet(StripeEvent, "event_id received_at", lambda _: [], {"object": "100%\t\\"})
    assert shape.copy_statement() == (
        'COPY "verdicts_stripeevent" ("event_id", "received_at", "type", "object", '
        '"processed_at", "outcome") FROM STDIN'
    )
    assert shape.copy_line() % ("a", "b") == "a\tb\t\t100%\\t\\\\\t\\N\t\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, r"\N"), (True, "t"), (False, "f"), ({"a": "\\"}, r'{"a": "\\\\"}'), (7, "7")],
)
def test_values_as_copy_reads_them(value, text):
    assert copy_text(value) == text
