"""Two-factor authentication: required after the password, set up by its user, throttled."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import Action
from tests.verdicts.staff_auth.conftest import Authenticator, log_in
from verdicts.privacy.login_retention import delete_expired
from verdicts.staff_auth import two_factor

pytestmark = pytest.mark.django_db
HOME, CHECK, SET_UP = (f"/admin/second-factor/{page}" for page in ("", "check/", "set-up/"))


@pytest.fixture
def logged_in(client, ada) -> Client:
    """A session after the password."""
    assert log_in(client).status_code == 302
    return client


def submit(client: Client, code: str, path: str = CHECK, **more: str):
    return client.post(path, {"code": code, **more})


def end_throttle(ada: User, minutes: float = 60) -> None:
    """Move the last wrong code into the past."""
    for device in (*TOTPDevice.objects.filter(user=ada), *ada.staticdevice_set.all()):
        if device.throttling_failure_timestamp:
            device.throttling_failure_timestamp -= timedelta(minutes=minutes)
            device.save()


def has_access(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


# After the password


def test_without_a_device_the_password_is_enough(logged_in):
    assert has_access(logged_in)


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/verdicts/order/", "/admin/search/", "/admin/password_change/", HOME]
)
def test_with_a_device_every_console_page_asks_for_a_code_first(logged_in, authenticator, path):
    answer = logged_in.get(path, {"q": "x"})
    assert answer.status_code == 302
    assert urlsplit(answer["Location"]).path == CHECK
    assert parse_qs(urlsplit(answer["Location"]).query) == {"next": [f"{path}?q=x"]}
    assert logged_in.post(path)["Location"] == CHECK


def test_a_code_grants_access_and_leads_to_the_next_url(logged_in, authenticator):
    before = logged_in.session.session_key
    answer = submit(logged_in, authenticator.code(), next="/admin/verdicts/order/")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/verdicts/order/")
    assert has_access(logged_in)
    assert logged_in.session.session_key != before
    assert logged_in.get(CHECK)["Location"] == "/admin/"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "orders",
    ],
)
def test_the_next_url_is_no_open_redirect(logged_in, authenticator, target):
    assert submit(logged_in, authenticator.code(), next=target)["Location"] == "/admin/"


def test_a_code_works_once(logged_in, authenticator):
    code = authenticator.code()
    submit(logged_in, code)
    other = Client()
    log_in(other)
    page = submit(other, code).content.decode()
    assert "This code is wrong or was used before." in page
    assert not has_access(other)


def test_each_wrong_code_doubles_the_delay(logged_in, ada, authenticator):
    assert "Wait 1 s" in submit(logged_in, authenticator.wrong_code()).content.decode()
    # During the delay even the right code is rejected.
    assert "Wait 1 s" in submit(logged_in, authenticator.code()).content.decode()
    assert not has_access(logged_in)
    end_throttle(ada)
    assert "Wait 2 s" in submit(logged_in, authenticator.wrong_code()).content.decode()
    end_throttle(ada)
    assert "Wait 4 s" in submit(logged_in, authenticator.wrong_code()).content.decode()
    end_throttle(ada)
    submit(logged_in, authenticator.code())
    assert has_access(logged_in)


def test_the_throttle_applies_across_sessions(logged_in, authenticator):
    submit(logged_in, authenticator.wrong_code())
    other = Client()
    log_in(other)
    assert "Wait 1 s" in submit(other, authenticator.code()).content.decode()


@pytest.mark.parametrize(
    "code", ["", " ", "12345", "9" * 41, "\x00", "１２３４５６", "-1", "0x1", "é"]
)
def test_a_malformed_code_is_rejected(logged_in, authenticator, code):
    answer = submit(logged_in, code)
    assert answer.status_code == 200
    assert not has_access(logged_in)


def test_a_code_may_contain_spaces(logged_in, authenticator):
    code = authenticator.code()
    submit(logged_in, f" {code[:3]} {code[3:]} ")
    assert has_access(logged_in)


def test_a_new_login_asks_for_a_code_again(logged_in, authenticator):
    submit(logged_in, authenticator.code())
    logged_in.post("/admin/logout/")
    log_in(logged_in)
    assert not has_access(logged_in)


def test_another_users_code_is_rejected(logged_in, authenticator):
    bob = User.objects.create_user("bob", password="x", is_staff=True)
    device = TOTPDevice.objects.create(user=bob, name="phone", confirmed=True)
    submit(logged_in, Authenticator(device).code())
    assert not has_access(logged_in)


def test_visitors_and_customers_get_the_login_page(client, ada, authenticator):
    ada.is_staff = False
    ada.save()
    client.force_login(ada)
    for path in (HOME, CHECK, SET_UP):
        for visitor in (client, Client()):
            assert visitor.get(path)["Location"].startswith("/admin/login/?next=")


# Setting up


def begin_setup(client: Client, ada: User) -> Authenticator:
    client.get(SET_UP)
    return Authenticator(TOTPDevice.objects.get(user=ada, confirmed=False))


def recovery_codes(answer) -> list[str]:
    return re.findall(r"<code>((?:[a-z2-7]{4}-){3}[a-z2-7]{4})</code>", answer.content.decode())


def test_the_secret_is_shown_as_inline_qr_code_and_as_text(logged_in, ada):
    page = logged_in.get(SET_UP)
    device = TOTPDevice.objects.get(user=ada)
    text = page.content.decode()
    assert "<svg" in text
    assert two_factor.typed_secret(device) in text
    assert "otpauth" not in text
    assert "no-store" in page["Cache-Control"]
    assert device.config_url.startswith("otpauth://totp/Oracle%3Aada?secret=")


def test_a_valid_code_turns_it_on_and_verifies_this_session(logged_in, ada):
    authenticator = begin_setup(logged_in, ada)
    assert has_access(logged_in)
    answer = submit(logged_in, authenticator.code(), SET_UP)
    assert len(set(recovery_codes(answer))) == 10
    assert has_access(logged_in)
    other = Client()
    log_in(other)
    assert not has_access(other)
    action = Action.objects.get()
    assert (action.action, action.who) == ("second factor on", "ada")


def test_other_sessions_of_the_user_are_asked_for_a_code(logged_in, ada):
    other = Client()
    log_in(other)
    submit(logged_in, begin_setup(logged_in, ada).code(), SET_UP)
    assert not has_access(other)


def test_a_wrong_code_leaves_it_off_and_keeps_the_secret(logged_in, ada):
    authenticator = begin_setup(logged_in, ada)
    answer = submit(logged_in, authenticator.wrong_code(), SET_UP)
    assert two_factor.typed_secret(TOTPDevice.objects.get(user=ada)) in answer.content.decode()
    assert two_factor.confirmed_device(ada) is None
    assert has_access(logged_in)
    assert not Action.objects.exists()


def test_an_unfinished_setup_is_deleted_after_its_retention(logged_in, ada):
    begin_setup(logged_in, ada)
    TOTPDevice.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert delete_expired() == 1
    assert not TOTPDevice.objects.exists()


def test_the_secret_is_not_shown_again(logged_in, authenticator):
    assert logged_in.get(SET_UP)["Location"] == HOME
    submit(logged_in, authenticator.code())
    page = logged_in.get(HOME).content.decode()
    assert "recovery codes left" in page
    assert "c-qr" not in page
    assert two_factor.typed_secret(TOTPDevice.objects.get()) not in page


def test_the_password_alone_cannot_replace_or_turn_it_off(logged_in, authenticator):
    """Nor renew the recovery codes."""
    assert logged_in.post(SET_UP, {"code": "123456"})["Location"] == HOME
    for path in (f"{HOME}off/", f"{HOME}new-codes/"):
        assert logged_in.post(path, {"code": authenticator.code()})["Location"] == CHECK
    assert TOTPDevice.objects.get().confirmed


# Required


def test_if_required_it_must_be_set_up_first(logged_in, ada, settings):
    settings.ORACLE_SECOND_FACTOR = "required"
    assert logged_in.get("/admin/")["Location"].startswith(SET_UP)
    assert "Two-factor authentication is required here" in logged_in.get(SET_UP).content.decode()
    submit(logged_in, begin_setup(logged_in, ada).code(), SET_UP)
    assert has_access(logged_in)


def test_if_required_it_cannot_be_turned_off(logged_in, authenticator, settings):
    settings.ORACLE_SECOND_FACTOR = "required"
    submit(logged_in, authenticator.code())
    logged_in.post(f"{HOME}off/", {"code": authenticator.code(steps_ahead=1)})
    assert TOTPDevice.objects.filter(confirmed=True).exists()
    assert "Turn it off" not in logged_in.get(HOME).content.decode()


# Recovery codes, and turning it off


@pytest.fixture
def codes(logged_in, ada) -> list[str]:
    return recovery_codes(submit(logged_in, begin_setup(logged_in, ada).code(), SET_UP))


def test_a_recovery_code_works_once_in_any_spelling(client, codes):
    for code, again in ((codes[0], codes[0]), (codes[1].upper().replace("-", " "), codes[1])):
        other = Client()
        log_in(other)
        submit(other, code)
        assert has_access(other)
        third = Client()
        log_in(third)
        submit(third, again)
        assert not has_access(third)
        end_throttle(User.objects.get())
    assert "8 recovery codes left" in client.get(HOME).content.decode()


def test_recovery_codes_are_stored_as_digests(codes):
    stored = set(StaticToken.objects.values_list("token", flat=True))
    assert len(stored) == 10
    assert not stored & {code.replace("-", "") for code in codes}
    assert not stored & {code.replace("-", "")[:16] for code in codes}


def test_wrong_recovery_codes_are_throttled_too(ada, codes):
    other = Client()
    log_in(other)
    assert "Wait 1 s" in submit(other, "aaaa-bbbb-cccc-dddd").content.decode()
    submit(other, codes[0])
    assert not has_access(other)


def test_new_recovery_codes_replace_the_old_ones(logged_in, ada, codes):
    assert recovery_codes(submit(logged_in, "nonsense", f"{HOME}new-codes/")) == []
    end_throttle(ada)
    new = recovery_codes(submit(logged_in, codes[0], f"{HOME}new-codes/"))
    assert len(new) == 10
    assert not set(new) & set(codes)
    other = Client()
    log_in(other)
    submit(other, codes[1])
    assert not has_access(other)


def test_turning_it_off_needs_a_code(logged_in, ada, codes):
    submit(logged_in, "123123", f"{HOME}off/")
    assert "Nothing was changed. This code is wrong" in logged_in.get(HOME).content.decode()
    submit(logged_in, codes[0], f"{HOME}off/")
    assert two_factor.confirmed_device(ada) is None
    assert not StaticToken.objects.exists()
    other = Client()
    log_in(other)
    assert has_access(other)
    assert [one.action for one in Action.objects.order_by("pk")] == [
        "second factor on",
        "second factor off",
    ]


def test_django_otps_own_admin_is_disabled(admin_client):
    for path in ("otp_totp/totpdevice/", "otp_static/staticdevice/"):
        assert admin_client.get(f"/admin/{path}").status_code == 404


def test_the_pages_accept_only_their_methods(logged_in):
    assert logged_in.post(HOME).status_code == 405
    assert logged_in.get(f"{HOME}off/").status_code == 405
    assert logged_in.put(CHECK).status_code == 405


def test_superusers_see_which_accounts_use_it(admin_client, ada, authenticator):
    page = admin_client.get("/admin/auth/user/")
    shown = {one.username: one.has_two_factor for one in page.context["cl"].result_list}
    assert shown == {"admin": False, "ada": True}
    assert "two-factor" in page.content.decode().lower()
