import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import IntegrityError

from audit.core.redaction import short_hash
from audit.log_context import log_session
from drill.sites.child_env import child_env
from oracle_site.service_log import (
    RedactingFormatter,
    SessionFilter,
    JsonFormatter,
    redacted_traceback,
    redact,
    service_log,
)

SESSION = "cs_test_a1B2c3D4e5"
ROOT = Path(__file__).parents[2]


def record(message: str = "at /cache/%s") -> logging.LogRecord:
    error = RuntimeError(SESSION)
    what = (type(error), error, None)
    return logging.LogRecord("x", logging.ERROR, "", 1, message, (SESSION,), what)


@pytest.mark.parametrize("formatter", [RedactingFormatter("%(message)s"), JsonFormatter()])
def test_no_line_and_no_traceback_holds_a_session_id(formatter):
    told = formatter.format(record())
    assert SESSION not in told
    assert told.count(short_hash(SESSION)) == 2


@pytest.mark.parametrize("formatter", [RedactingFormatter("%(message)s"), JsonFormatter()])
@pytest.mark.parametrize(
    "said",
    [
        "to buyer@example.com: no",
        "<buyer.b+c@example.com>",
        "x='buyer@example.com'",
        "buyer.o'neil@example.com",
        'to "buyer neil"@example.com',
        "?to=buyer%40example.com&x=1",
        "%2Fbuyer%2540example.com",
    ],
)
def test_no_line_holds_an_address(formatter, said):
    told = formatter.format(record(f"{said.replace('%', '%%')} %s"))
    assert not any(part in told for part in ("@", "buyer", "neil", "example"))
    assert "(address)" in told


def test_what_is_beside_an_address_is_told():
    said = "{'to': 'buyer@example.com', 'tier': 'full'} at 40% of 4,000"
    assert redact(said) == "{'to': '(address)', 'tier': 'full'} at 40% of 4,000"


def test_a_json_line_is_one_object_on_one_line():
    told = JsonFormatter().format(record("first\nsecond \u2028 %s"))
    assert told.isascii()
    assert "\n" not in told
    line = json.loads(told)
    assert list(line) == ["at", "level", "logger", "message", "process", "error"]
    assert (line["level"], line["logger"]) == ("ERROR", "x")
    assert line["message"].startswith("first\nsecond")
    assert "RuntimeError" in line["error"]
    assert line["at"].endswith("+00:00")


def test_where_it_was_called_from_is_redacted_too():
    stacked = record()
    stacked.exc_info, stacked.stack_info = None, f"in {SESSION}"
    assert json.loads(JsonFormatter().format(stacked))["stack"] == f"in {short_hash(SESSION)}"


def test_a_record_is_given_the_session_that_the_work_is_about():
    plain = RedactingFormatter(**formatter_options())
    with log_session(SESSION):
        concerned = record("x%s")
        assert SessionFilter().filter(concerned)
    assert json.loads(JsonFormatter().format(concerned))["session"] == short_hash(SESSION)
    assert f" ERROR {short_hash(SESSION)} x: " in plain.format(concerned)
    other = record("x%s")
    SessionFilter().filter(other)
    assert "session" not in json.loads(JsonFormatter().format(other))
    assert " ERROR - x: " in plain.format(other)
    assert " ERROR - x: " in plain.format(record("x%s"))  # that never met the filter


def formatter_options() -> dict:
    options = service_log("line")["formatters"]["line"]
    return {name: value for name, value in options.items() if name != "()"}


def failing(first: Exception, then: Exception, *, aside: bool = False) -> Exception:
    """`then`, as it comes out of the handling of `first`."""
    try:
        try:
            raise first
        except type(first):
            if aside:
                raise then from None
            raise then  # noqa: B904 - without a word of what it came from
    except type(then) as error:
        return error


def test_what_may_quote_a_customer_is_left_out_of_tracebacks():
    words = "my secret plan"
    told = redacted_traceback(failing(IntegrityError(f"Failing row ({words})"), ValueError(words)))
    assert words not in told
    assert words not in redacted_traceback(KeyError(words))
    parts = ["test_service_log.py", "django.db.utils.IntegrityError: (left out"]
    parts += ["\nand then\n", "test_service_log.py", "ValueError: (left out"]
    place = 0
    for part in parts:
        place = told.index(part, place) + len(part)


def test_what_an_error_of_the_code_says_is_told():
    assert redacted_traceback(TypeError("gold")) == "TypeError: gold"
    assert redacted_traceback(RuntimeError()) == "RuntimeError"
    error = OSError("first")
    error.__cause__ = error  # a chain that bites its tail
    assert redacted_traceback(error) == "OSError: first"


def test_what_was_set_aside_is_not_told():
    told = redacted_traceback(failing(TypeError("first"), OSError("then"), aside=True))
    assert told.endswith("OSError: then")
    assert "TypeError: " not in told


@pytest.mark.parametrize("form", ["line", "json"])
def test_the_setting_chooses_the_formatter(form):
    assert service_log(form)["handlers"]["console"]["formatter"] == form
    assert form in service_log(form)["formatters"]


@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("line", False)])
def test_a_process_writes_its_log_in_the_form_that_is_set(form, is_json):
    code = f"""
import logging
from audit.log_context import log_session
logging.getLogger('y').warning('at {SESSION}')
with log_session('{SESSION}'):
    logging.getLogger('y').warning('inside')
"""
    said = say(code, form)
    assert said.returncode == 0
    first, second = said.stderr.splitlines()
    assert SESSION not in said.stderr
    assert short_hash(SESSION) in first
    assert first.startswith('{"at": ') is is_json
    if is_json:
        assert "session" not in json.loads(first)
        assert json.loads(second)["session"] == short_hash(SESSION)
    else:
        assert f" WARNING - y: at {short_hash(SESSION)}" in first
        assert f" WARNING {short_hash(SESSION)} y: inside" in second


def test_another_form_is_refused():
    said = say("", "xml")
    assert said.returncode != 0
    assert "ORACLE_LOG_FORMAT must be line or json" in said.stderr


def say(code: str, form: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"],
        cwd=ROOT,
        env=child_env(DJANGO_SETTINGS_MODULE="oracle_site.settings", ORACLE_LOG_FORMAT=form),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_strangers_endless_header_makes_no_endless_line():
    told = redact(f"Invalid HTTP_HOST header: {'a' * 400_000}")
    assert told.startswith("Invalid HTTP_HOST header: … (400,026 characters)")
    assert redact("word " * 10_000).endswith(" word … (50,000 characters)")
    assert "buyer" not in redact("a" * 19_990 + " buyer@example.com")


def test_what_a_stranger_can_cause_at_will_is_one_line_each():
    visit = "from django.test import Client; Client().get('/', HTTP_HOST='evil.example')"
    said = say(visit, "line").stderr.splitlines()
    assert len(said) == 1
    assert " ERROR - django.security.DisallowedHost: Invalid HTTP_HOST header" in said[0]


@pytest.mark.parametrize("escaped", ["cs%5Ftest%5F", "cs%5ftest_", "cs%255Ftest%255F"])
def test_a_session_id_is_redacted_however_a_url_escapes_it(escaped):
    told = redact(f"Invalid HTTP request line: 'GET /?session_id={escaped}abc123DEF HTTP/1.1'")
    assert "abc123DEF" not in told
