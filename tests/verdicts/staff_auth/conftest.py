"""A staff account, its password and its authenticator."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

PASSWORD = "a-phrase-of-adas-own-7"


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada", password=PASSWORD, is_staff=True)


def log_in(client: Client, name: str = "ada", password: str = PASSWORD, **more: object):
    posted = {"username": name, "password": password, "next": "/admin/"}
    return client.post("/admin/login/", posted, **more)


class Authenticator:
    """A user's authenticator app; it can compute codes of later 30-second steps."""

    def __init__(self, device: TOTPDevice) -> None:
        self.key = device.bin_key

    def code(self, steps_ahead: int = 0) -> str:
        return f"{totp(self.key, t0=-30 * steps_ahead):06}"

    def wrong_code(self) -> str:
        """A code that is invalid now and for the next minutes."""
        near = {self.code(step) for step in range(-5, 6)}
        return next(code for code in ("000000", "111111", "222222") if code not in near)


@pytest.fixture
def authenticator(ada) -> Authenticator:
    return Authenticator(TOTPDevice.objects.create(user=ada, name="phone", confirmed=True))
