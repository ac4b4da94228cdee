"""The second factor of one person: six digits that change every half minute, or a spare code.

The rows are django-otp's, and so are the arithmetic and the pause after a wrong
code, which doubles each time. A spare code works once, and only its digest is kept.
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

NAME: Final = "second factor"
SPARE_CODES: Final = 10
DIGITS: Final = 6


class Refused(Exception):
    """A code that was not taken. `wait`: seconds until another one is looked at."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"wait {wait} s")
        self.wait = wait


def factor_of(user: User) -> Any | None:
    """The device that is in use, or None."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).first()


def has_shown(request: HttpRequest) -> bool:
    """Whether this session was let in by a factor that is still in use."""
    return getattr(request.user, "otp_device", None) is not None


def begin(user: User) -> Any:
    """A device that is not in use before a code of it was given; the same until then."""
    found = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return found or TOTPDevice.objects.create(user=user, name=NAME, confirmed=False)


def confirm(user: User, device: Any, code: str) -> tuple[Any, list[str]]:
    """Put the device to use; returns it and the spare codes. Raises Refused."""
    _verify(user, device, code)
    with transaction.atomic():
        # A second one, begun in another window, is not used beside it.
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        TOTPDevice.objects.filter(pk=device.pk).update(confirmed=True)
        codes = _new_spare_codes(user)
        _record(user, "second factor on", "set up")
    device.refresh_from_db()
    return device, codes


def check(user: User, code: str) -> Any:
    """The device that took the code. Raises Refused."""
    typed = "".join(code.split()).replace("-", "").lower()
    if typed.isdecimal() and len(typed) == DIGITS:
        return _verify(user, factor_of(user), typed)
    return _verify(user, StaticDevice.objects.filter(user=user).first(), digest(typed))


def renew_spare_codes(user: User) -> list[str]:
    with transaction.atomic():
        codes = _new_spare_codes(user)
        _record(user, "new spare codes", "asked for")
    return codes


def spare_codes_left(user: User) -> int:
    return int(StaticToken.objects.filter(device__user=user).count())


def remove(user: User, *, who: str, reason: str) -> bool:
    """False: there was none, and nothing is put on record."""
    with transaction.atomic():
        removed, _ = TOTPDevice.objects.filter(user=user, confirmed=True).delete()
        TOTPDevice.objects.filter(user=user).delete()
        StaticDevice.objects.filter(user=user).delete()
        if removed:
            _record(user, "second factor off", reason, who=who)
    return bool(removed)


def picture(device: Any) -> str:
    """The device's secret as a QR code: SVG to stand in a page, loaded from nowhere."""
    return str(segno.make(device.config_url, error="m").svg_inline(scale=5, border=2))


def secret(device: Any) -> str:
    """The same to be typed, in groups of four."""
    text = b32encode(device.bin_key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def digest(code: str) -> str:
    """Sixty-four bits of SHA-256 over eighty random bits: nobody gets back from it."""
    return sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _verify(user: User, device: Any | None, code: str) -> Any:
    if device is None:
        raise Refused(0)
    verified = verify_token(user, device.persistent_id, code)
    if verified:
        return verified
    device.refresh_from_db()
    _, more = device.verify_is_allowed()
    raise Refused(_seconds(more))


def _seconds(more: dict[str, Any] | None) -> int:
    if not more:
        return 0
    return max(1, int((more["locked_until"] - timezone.now()).total_seconds()) + 1)


def _new_spare_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    spare = StaticDevice.objects.create(user=user, name=NAME)
    codes = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(SPARE_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=spare, token=digest(one)) for one in codes)
    return ["-".join(one[start : start + 4] for start in range(0, 16, 4)) for one in codes]


def _record(user: User, action: str, reason: str, *, who: str = "") -> None:
    name = user.get_username()
    record_action(session_id="", action=action, who=who or name, reason=f"{name}: {reason}")
