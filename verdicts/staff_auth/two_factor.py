"""Two-factor authentication of one user: TOTP codes from an authenticator app, and recovery codes.

Devices, TOTP and the throttle, whose delay doubles with each wrong code, are
django-otp's. A recovery code works once and is stored as a digest.
"""

import secrets
from base64 import b32encode
from hashlib import sha256
from typing import Any, Final

import segno
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django_otp import verify_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.actions import record_action

DEVICE_NAME: Final = "second factor"
RECOVERY_CODES: Final = 10
DIGITS: Final = 6


class CodeRejected(Exception):
    """The code is wrong, was used before, or was throttled: try again after `retry_after` s."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"wait {retry_after} s")
        self.retry_after = retry_after


def confirmed_device(user: User) -> Any | None:
    """The user's authenticator; None if two-factor authentication is off."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).first()


def is_verified(request: HttpRequest) -> bool:
    """Whether this session was verified with a device that still exists."""
    return getattr(request.user, "otp_device", None) is not None


def begin_setup(user: User) -> Any:
    """The user's unconfirmed device, created on the first call."""
    found = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return found or TOTPDevice.objects.create(user=user, name=DEVICE_NAME, confirmed=False)


def confirm_setup(user: User, device: Any, code: str) -> tuple[Any, list[str]]:
    """Activate the device; returns it and the recovery codes. Raises CodeRejected."""
    _verify(user, device, code)
    with transaction.atomic():
        # A concurrent set-up in another window may have confirmed another device.
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        TOTPDevice.objects.filter(pk=device.pk).update(confirmed=True)
        codes = _new_recovery_codes(user)
        _record(user, "second factor on", "set up")
    device.refresh_from_db()
    return device, codes


def verify_code(user: User, code: str) -> Any:
    """The device that accepted the TOTP or recovery code. Raises CodeRejected."""
    typed = "".join(code.split()).replace("-", "").lower()
    if typed.isdecimal() and len(typed) == DIGITS:
        return _verify(user, confirmed_device(user), typed)
    return _verify(user, StaticDevice.objects.filter(user=user).first(), digest(typed))


def renew_recovery_codes(user: User) -> list[str]:
    with transaction.atomic():
        codes = _new_recovery_codes(user)
        # As in earlier log lines; the console says "recovery codes".
        _record(user, "new spare codes", "asked for")
    return codes


def recovery_codes_left(user: User) -> int:
    return int(StaticToken.objects.filter(device__user=user).count())


def remove(user: User, *, who: str, reason: str) -> bool:
    """Turn two-factor authentication off. False, and no action recorded, if it was off already."""
    with transaction.atomic():
        removed, _ = TOTPDevice.objects.filter(user=user, confirmed=True).delete()
        TOTPDevice.objects.filter(user=user).delete()
        StaticDevice.objects.filter(user=user).delete()
        if removed:
            _record(user, "second factor off", reason, who=who)
    return bool(removed)


def qr_code(device: Any) -> str:
    """The device's secret as a QR code, in inline SVG."""
    return str(segno.make(device.config_url, error="m").svg_inline(scale=5, border=2))


def typed_secret(device: Any) -> str:
    """The device's secret to be typed instead of scanned, in groups of four."""
    text = b32encode(device.bin_key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def digest(code: str) -> str:
    """64 bits of SHA-256; unsalted, because a recovery code is 80 random bits."""
    return sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _verify(user: User, device: Any | None, code: str) -> Any:
    if device is None:
        raise CodeRejected(0)
    verified = verify_token(user, device.persistent_id, code)
    if verified:
        return verified
    device.refresh_from_db()
    _, throttled = device.verify_is_allowed()
    raise CodeRejected(_seconds_locked(throttled))


def _seconds_locked(throttled: dict[str, Any] | None) -> int:
    if not throttled:
        return 0
    return max(1, int((throttled["locked_until"] - timezone.now()).total_seconds()) + 1)


def _new_recovery_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name=DEVICE_NAME)
    codes = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(
        StaticToken(device=device, token=digest(code)) for code in codes
    )
    return ["-".join(code[start : start + 4] for start in range(0, 16, 4)) for code in codes]


def _record(user: User, action: str, reason: str, *, who: str = "") -> None:
    name = user.get_username()
    record_action(session_id="", action=action, who=who or name, reason=f"{name}: {reason}")
