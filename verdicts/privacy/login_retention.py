"""Retention of login data: deletes failed attempts, sessions and unfinished 2FA set-ups."""

from datetime import timedelta
from typing import Final

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

# An unconfirmed second factor, whose secret has been shown on a screen.
UNCONFIRMED_TTL: Final = timedelta(days=1)


def delete_expired() -> int:
    """Delete attempts whose lockout is over, expired sessions and unconfirmed second factors."""
    now = timezone.now()
    expired = (
        AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME),
        Session.objects.filter(expire_date__lt=now),
        TOTPDevice.objects.filter(confirmed=False, created_at__lt=now - UNCONFIRMED_TTL),
    )
    return sum(int(rows.delete()[0]) for rows in expired)
