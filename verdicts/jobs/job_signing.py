"""Signatures of queued jobs across key rotations: django-q drops what SECRET_KEY did not sign.

Jobs signed with a key of SECRET_KEY_FALLBACKS are signed anew when they are dequeued, and jobs
signed with a key that this process does not know are left for one that does, so that a key
rotation loses no job.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner, b62_decode
from django_q.conf import Conf


def resign(payload: str) -> str | None:
    """The job signed with SECRET_KEY, as django-q requires; None: none of our keys signed it."""
    signer = TimestampSigner(
        key=settings.SECRET_KEY, fallback_keys=[*settings.SECRET_KEY_FALLBACKS], salt=Conf.PREFIX
    )
    try:
        return signer.sign(signer.unsign(payload))
    except BadSignature:
        return None


def signed_at(payload: str) -> datetime:
    """The time in the signature, unverified; the epoch where there is none."""
    try:
        _, stamp, _ = payload.rsplit(":", 2)
        return datetime.fromtimestamp(b62_decode(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
