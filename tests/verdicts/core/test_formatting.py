from datetime import UTC, date, datetime

import pytest

from verdicts.core.formatting import (
    format_date,
    format_datetime,
    format_interval,
    format_long_date,
    format_long_datetime,
    format_score,
    format_timestamp,
    format_wait,
)

AT = datetime(2026, 5, 3, 14, 5, 9, tzinfo=UTC)


def test_dates_for_staff():
    assert format_date(date(2026, 5, 3)) == format_date(AT) == "2026-05-03"
    assert format_datetime(AT) == "2026-05-03 14:05"
    assert format_timestamp(AT) == "2026-05-03 14:05:09"


def test_dates_for_customers():
    assert format_long_date(AT) == "3 May 2026"
    assert format_long_datetime(AT) == "3 May 2026, 14:05"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1 second"),
        (2, "2 seconds"),
        (45, "45 seconds"),
        (46, "a minute"),
        (90, "a minute"),
        (91, "2 minutes"),
        (300, "5 minutes"),
    ],
)
def test_a_wait_is_rounded(seconds, text):
    assert format_wait(seconds) == text


def test_scores_and_intervals():
    assert format_score(0.97404) == "0.9740"
    assert format_interval(0.0123, 0.069) == "1.2% to 6.9%"
