"""Wrong passwords: five for one name from one address, then neither gets an answer."""

import logging

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse

from tests.verdicts.staff_auth.conftest import PASSWORD, log_in
from verdicts.staff_auth.login_throttle import counted_address

pytestmark = pytest.mark.django_db
LIMIT = 5
READ_OUTCOMES = "Nothing more is tried for 15 minutes"


def fail(client: Client, times: int, name: str = "ada", **more: object) -> list[int]:
    return [log_in(client, name, "wrong", **more).status_code for _ in range(times)]


def test_five_wrong_passwords_and_the_right_one_is_not_looked_at(client, ada):
    assert fail(client, LIMIT) == [200, 200, 200, 200, 429]
    answer = log_in(client)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    page = answer.content.decode()
    assert READ_OUTCOMES in page
    assert "axes_reset" in page
    assert "_auth_user_id" not in client.session


def test_four_wrong_ones_and_the_right_one_start_anew(client, ada):
    for _ in range(3):
        fail(client, LIMIT - 1)
        assert log_in(client).status_code == 302
        client.logout()


def test_a_name_that_nobody_has_is_answered_alike(client, ada):
    known = [log_in(client, "ada", "wrong") for _ in range(LIMIT + 1)]
    unknown = [log_in(client, "zoe", "wrong") for _ in range(LIMIT + 1)]
    for one, other in zip(known, unknown, strict=True):
        assert one.status_code == other.status_code
        assert told(one, "ada") == told(other, "zoe")


def told(answer, name: str) -> str:
    """The page without what was typed and without its token."""
    token = answer.context["csrf_token"]
    return answer.content.decode().replace(name, "NAME").replace(str(token), "TOKEN")


@pytest.mark.parametrize("changes", [{"is_staff": False}, {"is_active": False}])
def test_an_account_that_may_not_come_in_is_answered_like_a_wrong_password(client, ada, changes):
    wrong = log_in(client, "ada", "wrong")
    for name, value in changes.items():
        setattr(ada, name, value)
    ada.save()
    answer = log_in(client)
    assert answer.status_code == 200
    assert told(answer, "ada") == told(wrong, "ada")


def test_a_login_page_that_was_asked_for_by_itself_leads_into_the_console(client, ada):
    """As the link of the page about a lock leads there."""
    answer = client.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


def test_others_and_other_places_are_not_locked_out(client, ada):
    fail(client, LIMIT)
    assert log_in(client, REMOTE_ADDR="192.0.2.7").status_code == 302
    assert fail(Client(), 1, "bob") == [200]


def test_another_spelling_of_the_name_brings_no_new_tries(client, ada):
    fail(client, LIMIT - 1, "\uff41da")  # a full-width letter, which Django takes for an a
    assert fail(client, 1, "ada") == [429]


def test_another_browser_brings_no_new_tries(client, ada):
    for number in range(LIMIT - 1):
        fail(client, 1, headers={"User-Agent": f"browser {number}"})
    assert fail(client, 1) == [429]


def test_trying_on_does_not_prolong_it(client, ada, settings):
    fail(client, LIMIT)
    before = AccessAttempt.objects.get().attempt_time
    fail(client, 2)
    assert AccessAttempt.objects.get().attempt_time == before
    AccessAttempt.objects.update(attempt_time=before - settings.AXES_COOLOFF_TIME)
    assert log_in(client).status_code == 302


def test_behind_a_proxy_it_is_the_address_that_the_proxy_names(client, ada, settings):
    settings.BEHIND_PROXY = True
    seen = {"X-Forwarded-For": "203.0.113.9, 198.51.100.1"}  # the first is the client's own word
    assert fail(client, LIMIT, headers=seen)[-1] == 429
    assert AccessAttempt.objects.get().ip_address == "198.51.100.1"
    other = {"X-Forwarded-For": "203.0.113.10, 198.51.100.1"}
    assert log_in(client, headers=other).status_code == 429
    assert log_in(client, headers={"X-Forwarded-For": "198.51.100.2"}).status_code == 302


@pytest.mark.parametrize(
    ("forwarded", "counted"),
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
def test_what_is_counted_is_an_address_or_nothing(settings, forwarded, counted):
    settings.BEHIND_PROXY = True
    request = RequestFactory().post("/admin/login/", headers={"X-Forwarded-For": forwarded})
    assert counted_address(request) == counted


@pytest.mark.parametrize("forwarded", ["unknown", "' OR 1=1", "\xe9", "9" * 5000, "1.2.3.4%0a"])
def test_an_odd_forwarded_address_is_counted_and_no_error(client, ada, settings, forwarded):
    settings.BEHIND_PROXY = True
    assert fail(client, LIMIT, headers={"X-Forwarded-For": forwarded})[-1] == 429


@pytest.mark.parametrize("name", ["", " ", "a" * 5000, "\x00", "ada\x00", "ada\r\nX: y", "\x1b[2J"])
def test_an_odd_name_is_a_wrong_one(client, ada, name):
    assert log_in(client, name, "wrong").status_code == 200


def test_neither_names_nor_addresses_are_logged(client, ada, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("axes").setLevel(logging.ERROR)  # as oracle_site.service_log has it
    fail(client, LIMIT + 1, "adas-secret-typed-into-the-wrong-box", REMOTE_ADDR="192.0.2.77")
    log_in(client)
    assert "too many wrong passwords" in caplog.text
    assert "adas-secret" not in caplog.text
    assert "192.0.2.77" not in caplog.text


def test_no_password_is_stored_and_no_log_of_logins_kept(client, ada):
    fail(client, 2)
    log_in(client, "ada", "hunter-twelve-7")
    row = AccessAttempt.objects.get()
    assert "hunter" not in f"{row.post_data}{row.get_data}"
    log_in(client)
    assert not AccessLog.objects.exists()
    assert not AccessFailureLog.objects.exists()


def test_an_operator_lifts_the_lock(client, ada, capsys):
    fail(client, LIMIT)
    call_command("axes_reset")
    assert log_in(client).status_code == 302


def test_nobody_edits_the_counts_in_the_console():
    for model in ("accessattempt", "accesslog", "accessfailurelog"):
        with pytest.raises(NoReverseMatch):
            reverse(f"admin:axes_{model}_changelist")


def test_a_login_works_where_the_address_is_not_known(ada):
    assert (
        Client(REMOTE_ADDR="")
        .post("/admin/login/", {"username": "ada", "password": PASSWORD, "next": "/admin/"})
        .status_code
        == 302
    )
