"""What logging in leaves behind goes when it is of no more use."""

from datetime import timedelta
from typing import Final

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

# A second factor that was begun and never finished: its secret has been on a screen.
UNFINISHED: Final = timedelta(days=1)


def forget_old() -> int:
    """Names and addresses that lock nobody out any more, sessions that have run out."""
    now = timezone.now()
    old = (
        AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME),
        Session.objects.filter(expire_date__lt=now),
        TOTPDevice.objects.filter(confirmed=False, created_at__lt=now - UNFINISHED),
    )
    return sum(int(rows.delete()[0]) for rows in old)
