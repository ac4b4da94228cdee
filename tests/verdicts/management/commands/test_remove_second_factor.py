from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import Action

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada", is_staff=True)
    TOTPDevice.objects.create(user=user, name="phone", confirmed=True)
    StaticDevice.objects.create(user=user, name="spare")
    return user


def remove(*arguments: str) -> str:
    out = StringIO()
    call_command("remove_second_factor", *arguments, stdout=out)
    return out.getvalue()


def test_it_is_removed_with_its_spare_codes_on_record(ada):
    output = remove("ada", "--reason", "phone stolen, seen in person", "--by", "Otto")
    assert output == "Removed: the password alone is enough to log in now.\n"
    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    action = Action.objects.get()
    assert (action.action, action.who) == ("second factor off", "Otto")
    assert action.reason == "ada: phone stolen, seen in person"


@pytest.mark.parametrize(
    ("name", "reason", "sentence"),
    [
        ("ada", "  ", "must not be blank"),
        ("eve", "why", "no account by that name"),
        ("bob", "why", "has no second factor"),
        ("", "why", "no account by that name"),
    ],
)
def test_invalid_arguments_are_one_sentence(ada, name, reason, sentence):
    User.objects.create_user("bob", is_staff=True)
    with pytest.raises(CommandError, match=sentence):
        remove(name, "--reason", reason)
    assert TOTPDevice.objects.exists()
    assert not Action.objects.exists()
