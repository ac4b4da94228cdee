"""Ada of staff, her password, and her authenticator."""

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
    """Ada's phone: it knows the secret, and can be ahead of time by some half minutes."""

    def __init__(self, device: TOTPDevice) -> None:
        self.key = device.bin_key

    def code(self, ahead: int = 0) -> str:
        return f"{totp(self.key, t0=-30 * ahead):06}"

    def wrong(self) -> str:
        """A code that none of the next or last minutes has."""
        near = {self.code(ahead) for ahead in range(-5, 6)}
        return next(code for code in ("000000", "111111", "222222") if code not in near)


@pytest.fixture
def phone(ada) -> Authenticator:
    return Authenticator(TOTPDevice.objects.create(user=ada, name="phone", confirmed=True))
