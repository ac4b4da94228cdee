from datetime import timedelta

import pytest
from django.utils import timezone

from verdicts.admin.waiting import waiting_time


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(0, "just now"), (59, "59 min"), (60, "1 h"), (125, "2 h 5 min"), (1500, "1 day 1 h")],
)
def test_the_waiting_time_has_two_units(minutes, text):
    assert waiting_time(timezone.now() - timedelta(minutes=minutes, seconds=5)) == text
