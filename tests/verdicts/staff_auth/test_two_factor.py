"""A second factor: asked for after the password, set up by its owner, throttled, recoverable."""

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
def known(client, ada) -> Client:
    """Ada, who has given her password."""
    assert log_in(client).status_code == 302
    return client


def give(client: Client, code: str, path: str = CHECK, **more: str):
    return client.post(path, {"code": code, **more})


def wait(ada: User, minutes: float = 60) -> None:
    """As if the pause after a wrong code were over."""
    for device in (*TOTPDevice.objects.filter(user=ada), *ada.staticdevice_set.all()):
        if device.throttling_failure_timestamp:
            device.throttling_failure_timestamp -= timedelta(minutes=minutes)
            device.save()


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


# After the password


def test_without_one_the_password_lets_in(known):
    assert is_in(known)


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/verdicts/order/", "/admin/search/", "/admin/password_change/", HOME]
)
def test_with_one_nothing_of_the_console_answers_before_it_is_shown(known, phone, path):
    answer = known.get(path, {"q": "x"})
    assert answer.status_code == 302
    assert urlsplit(answer["Location"]).path == CHECK
    assert parse_qs(urlsplit(answer["Location"]).query) == {"next": [f"{path}?q=x"]}
    assert known.post(path)["Location"] == CHECK


def test_a_code_lets_in_and_leads_where_one_was_going(known, phone):
    before = known.session.session_key
    answer = give(known, phone.code(), next="/admin/verdicts/order/")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/verdicts/order/")
    assert is_in(known)
    assert known.session.session_key != before
    assert known.get(CHECK)["Location"] == "/admin/"


@pytest.mark.parametrize(
    "away",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "orders",
    ],
)
def test_nobody_is_led_elsewhere(known, phone, away):
    assert give(known, phone.code(), next=away)["Location"] == "/admin/"


def test_a_code_works_once(known, phone):
    code = phone.code()
    give(known, code)
    other = Client()
    log_in(other)
    page = give(other, code).content.decode()
    assert "That code does not fit, or was used before." in page
    assert not is_in(other)


def test_a_wrong_code_costs_a_pause_that_doubles(known, ada, phone):
    assert "Wait 1 s" in give(known, phone.wrong()).content.decode()
    # Within the pause not even the right one is looked at.
    assert "Wait 1 s" in give(known, phone.code()).content.decode()
    assert not is_in(known)
    wait(ada)
    assert "Wait 2 s" in give(known, phone.wrong()).content.decode()
    wait(ada)
    assert "Wait 4 s" in give(known, phone.wrong()).content.decode()
    wait(ada)
    give(known, phone.code())
    assert is_in(known)


def test_another_session_brings_no_new_tries(known, phone):
    give(known, phone.wrong())
    other = Client()
    log_in(other)
    assert "Wait 1 s" in give(other, phone.code()).content.decode()


@pytest.mark.parametrize(
    "code", ["", " ", "12345", "9" * 41, "\x00", "１２３４５６", "-1", "0x1", "é"]
)
def test_an_odd_code_is_a_wrong_one(known, phone, code):
    answer = give(known, code)
    assert answer.status_code == 200
    assert not is_in(known)


def test_a_code_may_be_typed_in_two_groups(known, phone):
    code = phone.code()
    give(known, f" {code[:3]} {code[3:]} ")
    assert is_in(known)


def test_logging_out_and_in_asks_again(known, phone):
    give(known, phone.code())
    known.post("/admin/logout/")
    log_in(known)
    assert not is_in(known)


def test_ones_own_factor_says_nothing_for_somebody_else(known, phone):
    bob = User.objects.create_user("bob", password="x", is_staff=True)
    device = TOTPDevice.objects.create(user=bob, name="phone", confirmed=True)
    give(known, Authenticator(device).code())
    assert not is_in(known)


def test_strangers_and_customers_see_no_more_than_the_login(client, ada, phone):
    ada.is_staff = False
    ada.save()
    client.force_login(ada)
    for path in (HOME, CHECK, SET_UP):
        for visitor in (client, Client()):
            assert visitor.get(path)["Location"].startswith("/admin/login/?next=")


# Setting up


def begun(client: Client, ada: User) -> Authenticator:
    client.get(SET_UP)
    return Authenticator(TOTPDevice.objects.get(user=ada, confirmed=False))


def spare_codes(answer) -> list[str]:
    return re.findall(r"<code>((?:[a-z2-7]{4}-){3}[a-z2-7]{4})</code>", answer.content.decode())


def test_the_secret_is_a_picture_in_the_page_and_a_text_to_type(known, ada):
    page = known.get(SET_UP)
    device = TOTPDevice.objects.get(user=ada)
    text = page.content.decode()
    assert "<svg" in text
    assert two_factor.secret(device) in text
    assert "otpauth" not in text
    assert "no-store" in page["Cache-Control"]
    assert device.config_url.startswith("otpauth://totp/Oracle%3Aada?secret=")


def test_it_is_on_once_a_code_was_given_and_this_session_goes_on(known, ada):
    phone = begun(known, ada)
    assert is_in(known)
    answer = give(known, phone.code(), SET_UP)
    assert len(set(spare_codes(answer))) == 10
    assert is_in(known)
    other = Client()
    log_in(other)
    assert not is_in(other)
    action = Action.objects.get()
    assert (action.action, action.who) == ("second factor on", "ada")


def test_sessions_that_were_in_before_are_asked_too(known, ada):
    other = Client()
    log_in(other)
    give(known, begun(known, ada).code(), SET_UP)
    assert not is_in(other)


def test_a_wrong_code_leaves_it_off_and_the_secret_as_it_was(known, ada):
    phone = begun(known, ada)
    answer = give(known, phone.wrong(), SET_UP)
    assert two_factor.secret(TOTPDevice.objects.get(user=ada)) in answer.content.decode()
    assert two_factor.factor_of(ada) is None
    assert is_in(known)
    assert not Action.objects.exists()


def test_what_was_begun_and_never_finished_is_forgotten(known, ada):
    begun(known, ada)
    TOTPDevice.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert delete_expired() == 1
    assert not TOTPDevice.objects.exists()


def test_one_who_has_it_is_not_shown_the_secret_again(known, phone):
    assert known.get(SET_UP)["Location"] == HOME
    give(known, phone.code())
    page = known.get(HOME).content.decode()
    assert "spare codes left" in page
    assert "c-qr" not in page
    assert two_factor.secret(TOTPDevice.objects.get()) not in page


def test_whoever_has_the_password_alone_cannot_replace_it(known, phone):
    """Nor turn it off, nor have new codes."""
    assert known.post(SET_UP, {"code": "123456"})["Location"] == HOME
    for path in (f"{HOME}off/", f"{HOME}new-codes/"):
        assert known.post(path, {"code": phone.code()})["Location"] == CHECK
    assert TOTPDevice.objects.get().confirmed


# Required


def test_where_it_is_required_everybody_sets_it_up_first(known, ada, settings):
    settings.ORACLE_SECOND_FACTOR = "required"
    assert known.get("/admin/")["Location"].startswith(SET_UP)
    assert "Everybody here must have one" in known.get(SET_UP).content.decode()
    give(known, begun(known, ada).code(), SET_UP)
    assert is_in(known)


def test_where_it_is_required_nobody_turns_it_off(known, phone, settings):
    settings.ORACLE_SECOND_FACTOR = "required"
    give(known, phone.code())
    known.post(f"{HOME}off/", {"code": phone.code(ahead=1)})
    assert TOTPDevice.objects.filter(confirmed=True).exists()
    assert "Turn it off" not in known.get(HOME).content.decode()


# Spare codes, and the end


@pytest.fixture
def spares(known, ada) -> list[str]:
    return spare_codes(give(known, begun(known, ada).code(), SET_UP))


def test_a_spare_code_lets_in_once_however_it_is_typed(client, spares):
    for code, again in ((spares[0], spares[0]), (spares[1].upper().replace("-", " "), spares[1])):
        other = Client()
        log_in(other)
        give(other, code)
        assert is_in(other)
        third = Client()
        log_in(third)
        give(third, again)
        assert not is_in(third)
        wait(User.objects.get())
    assert "8 spare codes left" in client.get(HOME).content.decode()


def test_no_spare_code_stands_in_the_database(spares):
    kept = set(StaticToken.objects.values_list("token", flat=True))
    assert len(kept) == 10
    assert not kept & {code.replace("-", "") for code in spares}
    assert not kept & {code.replace("-", "")[:16] for code in spares}


def test_wrong_spare_codes_cost_a_pause_as_well(ada, spares):
    other = Client()
    log_in(other)
    assert "Wait 1 s" in give(other, "aaaa-bbbb-cccc-dddd").content.decode()
    give(other, spares[0])
    assert not is_in(other)


def test_new_spare_codes_replace_the_old(known, ada, spares):
    assert spare_codes(give(known, "nonsense", f"{HOME}new-codes/")) == []
    wait(ada)
    new = spare_codes(give(known, spares[0], f"{HOME}new-codes/"))
    assert len(new) == 10
    assert not set(new) & set(spares)
    other = Client()
    log_in(other)
    give(other, spares[1])
    assert not is_in(other)


def test_turning_it_off_takes_a_code(known, ada, spares):
    give(known, "123123", f"{HOME}off/")
    assert "Nothing was changed. That code does not fit" in known.get(HOME).content.decode()
    give(known, spares[0], f"{HOME}off/")
    assert two_factor.factor_of(ada) is None
    assert not StaticToken.objects.exists()
    other = Client()
    log_in(other)
    assert is_in(other)
    assert [one.action for one in Action.objects.order_by("pk")] == [
        "second factor on",
        "second factor off",
    ]


def test_the_devices_own_admin_is_switched_off(admin_client):
    for path in ("otp_totp/totpdevice/", "otp_static/staticdevice/"):
        assert admin_client.get(f"/admin/{path}").status_code == 404


def test_no_page_about_it_takes_what_it_does_not_know(known):
    assert known.post(HOME).status_code == 405
    assert known.get(f"{HOME}off/").status_code == 405
    assert known.put(CHECK).status_code == 405


def test_superusers_see_who_has_one(admin_client, ada, phone):
    page = admin_client.get("/admin/auth/user/")
    shown = {one.username: one.has_factor for one in page.context["cl"].result_list}
    assert shown == {"admin": False, "ada": True}
    assert "second factor" in page.content.decode().lower()
