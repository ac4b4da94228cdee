"""Login throttle: five wrong passwords for one username from one address, then a lockout."""

import logging

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse

from tests.verdicts.staff_auth.conftest import PASSWORD, log_in
from verdicts.staff_auth.login_throttle import client_ip

pytestmark = pytest.mark.django_db
LIMIT = 5
LOCKED_OUT = "No login is accepted for 15 minutes"


def fail(client: Client, times: int, name: str = "ada", **more: object) -> list[int]:
    return [log_in(client, name, "wrong", **more).status_code for _ in range(times)]


def test_five_wrong_passwords_lock_out_even_the_right_one(client, ada):
    assert fail(client, LIMIT) == [200, 200, 200, 200, 429]
    answer = log_in(client)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    page = answer.content.decode()
    assert LOCKED_OUT in page
    assert "axes_reset" in page
    assert "_auth_user_id" not in client.session


def test_a_successful_login_resets_the_count(client, ada):
    for _ in range(3):
        fail(client, LIMIT - 1)
        assert log_in(client).status_code == 302
        client.logout()


def test_unknown_and_existing_usernames_get_the_same_response(client, ada):
    known = [log_in(client, "ada", "wrong") for _ in range(LIMIT + 1)]
    unknown = [log_in(client, "zoe", "wrong") for _ in range(LIMIT + 1)]
    for one, other in zip(known, unknown, strict=True):
        assert one.status_code == other.status_code
        assert normalized(one, "ada") == normalized(other, "zoe")


def normalized(answer, name: str) -> str:
    """The page without the typed username and the CSRF token."""
    token = answer.context["csrf_token"]
    return answer.content.decode().replace(name, "NAME").replace(str(token), "TOKEN")


@pytest.mark.parametrize("changes", [{"is_staff": False}, {"is_active": False}])
def test_an_account_without_access_gets_the_response_to_a_wrong_password(client, ada, changes):
    wrong = log_in(client, "ada", "wrong")
    for name, value in changes.items():
        setattr(ada, name, value)
    ada.save()
    answer = log_in(client)
    assert answer.status_code == 200
    assert normalized(answer, "ada") == normalized(wrong, "ada")


def test_a_login_without_a_next_url_leads_to_the_console(client, ada):
    """The lockout page links to the login page without one."""
    answer = client.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


def test_other_addresses_and_other_usernames_are_not_locked_out(client, ada):
    fail(client, LIMIT)
    assert log_in(client, REMOTE_ADDR="192.0.2.7").status_code == 302
    assert fail(Client(), 1, "bob") == [200]


def test_another_spelling_of_the_username_does_not_reset_the_count(client, ada):
    fail(client, LIMIT - 1, "\uff41da")  # a full-width letter, which Django normalizes to an a
    assert fail(client, 1, "ada") == [429]


def test_another_browser_does_not_reset_the_count(client, ada):
    for number in range(LIMIT - 1):
        fail(client, 1, headers={"User-Agent": f"browser {number}"})
    assert fail(client, 1) == [429]


def test_attempts_during_the_lockout_do_not_prolong_it(client, ada, settings):
    fail(client, LIMIT)
    before = AccessAttempt.objects.get().attempt_time
    fail(client, 2)
    assert AccessAttempt.objects.get().attempt_time == before
    AccessAttempt.objects.update(attempt_time=before - settings.AXES_COOLOFF_TIME)
    assert log_in(client).status_code == 302


def test_behind_a_proxy_the_forwarded_address_is_counted(client, ada, settings):
    settings.BEHIND_PROXY = True
    seen = {"X-Forwarded-For": "203.0.113.9, 198.51.100.1"}  # the first may be forged by the client
    assert fail(client, LIMIT, headers=seen)[-1] == 429
    assert AccessAttempt.objects.get().ip_address == "198.51.100.1"
    other = {"X-Forwarded-For": "203.0.113.10, 198.51.100.1"}
    assert log_in(client, headers=other).status_code == 429
    assert log_in(client, headers={"X-Forwarded-For": "198.51.100.2"}).status_code == 302


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("[2001:db8:1:2::9]:443", "2001:db8:1:2::"),
        ("", None),
        ("unknown", None),
        ("fe80::1%eth0", "fe80::"),
        ("' OR 1=1", None),
        ("\x00", None),
        ("9" * 5000, None),
    ],
)
def test_the_counted_address_is_valid_or_none(settings, forwarded, expected):
    settings.BEHIND_PROXY = True
    request = RequestFactory().post("/admin/login/", headers={"X-Forwarded-For": forwarded})
    assert client_ip(request) == expected


@pytest.mark.parametrize("forwarded", ["unknown", "' OR 1=1", "\xe9", "9" * 5000, "1.2.3.4%0a"])
def test_an_invalid_forwarded_address_is_throttled_without_an_error(
    client, ada, settings, forwarded
):
    settings.BEHIND_PROXY = True
    assert fail(client, LIMIT, headers={"X-Forwarded-For": forwarded})[-1] == 429


@pytest.mark.parametrize("name", ["", " ", "a" * 5000, "\x00", "ada\x00", "ada\r\nX: y", "\x1b[2J"])
def test_a_malformed_username_is_a_failed_login(client, ada, name):
    assert log_in(client, name, "wrong").status_code == 200


def test_usernames_and_addresses_are_not_logged(client, ada, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("axes").setLevel(logging.ERROR)  # as oracle_site.service_log has it
    fail(client, LIMIT + 1, "adas-secret-typed-into-the-wrong-box", REMOTE_ADDR="192.0.2.77")
    log_in(client)
    assert "too many wrong passwords" in caplog.text
    assert "adas-secret" not in caplog.text
    assert "192.0.2.77" not in caplog.text


def test_no_password_and_no_login_log_is_stored(client, ada):
    fail(client, 2)
    log_in(client, "ada", "hunter-twelve-7")
    row = AccessAttempt.objects.get()
    assert "hunter" not in f"{row.post_data}{row.get_data}"
    log_in(client)
    assert not AccessLog.objects.exists()
    assert not AccessFailureLog.objects.exists()


def test_axes_reset_lifts_the_lockout(client, ada, capsys):
    fail(client, LIMIT)
    call_command("axes_reset")
    assert log_in(client).status_code == 302


def test_the_attempts_cannot_be_edited_in_the_console():
    for model in ("accessattempt", "accesslog", "accessfailurelog"):
        with pytest.raises(NoReverseMatch):
            reverse(f"admin:axes_{model}_changelist")


def test_a_login_without_a_known_address_works(ada):
    assert (
        Client(REMOTE_ADDR="")
        .post("/admin/login/", {"username": "ada", "password": PASSWORD, "next": "/admin/"})
        .status_code
        == 302
    )
