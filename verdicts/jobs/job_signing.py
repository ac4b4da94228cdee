"""Whose signature a queued job carries: django-q drops what today's key did not sign.

So that a new SECRET_KEY loses no job, those that a key of SECRET_KEY_FALLBACKS
signed are signed anew when they are given out, and those of a key that this
process does not know are left for one that does.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner, b62_decode
from django_q.conf import Conf


def signed_by_todays_key(payload: str) -> str | None:
    """The job as django-q will take it; None where none of our keys has signed it."""
    signer = TimestampSigner(
        key=settings.SECRET_KEY, fallback_keys=[*settings.SECRET_KEY_FALLBACKS], salt=Conf.PREFIX
    )
    try:
        return signer.sign(signer.unsign(payload))
    except BadSignature:
        return None


def signed_at(payload: str) -> datetime:
    """When it says that it was signed, whoever did; long ago where it says nothing."""
    try:
        _, stamp, _ = payload.rsplit(":", 2)
        return datetime.fromtimestamp(b62_decode(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
