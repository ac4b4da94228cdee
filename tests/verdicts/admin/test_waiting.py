from datetime import timedelta

import pytest
from django.utils import timezone

from verdicts.admin.waiting import waiting


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(0, "just now"), (59, "59 min"), (60, "1 h"), (125, "2 h 5 min"), (1500, "1 day 1 h")],
)
def test_waiting_is_told_at_a_glance(minutes, words):
    assert waiting(timezone.now() - timedelta(minutes=minutes, seconds=5)) == words
