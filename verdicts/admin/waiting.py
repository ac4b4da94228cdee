"""How long a case has been waiting."""

from datetime import datetime

from django.utils import timezone

from verdicts.core.formatting import format_duration


def waiting_time(since: datetime) -> str:
    return format_duration(timezone.now() - since)
