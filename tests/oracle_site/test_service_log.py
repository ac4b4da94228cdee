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
    JsonFormatter,
    RedactingFormatter,
    SessionFilter,
    redact,
    redacted_traceback,
    service_log,
)

SESSION = "cs_test_a1B2c3D4e5"
ROOT = Path(__file__).parents[2]


def record(message: str = "at /cache/%s") -> logging.LogRecord:
    error = RuntimeError(SESSION)
    what = (type(error), error, None)
    return logging.LogRecord("x", logging.ERROR, "", 1, message, (SESSION,), what)


@pytest.mark.parametrize("formatter", [RedactingFormatter("%(message)s"), JsonFormatter()])
def test_session_ids_are_redacted_in_messages_and_tracebacks(formatter):
    text = formatter.format(record())
    assert SESSION not in text
    assert text.count(short_hash(SESSION)) == 2


@pytest.mark.parametrize("formatter", [RedactingFormatter("%(message)s"), JsonFormatter()])
@pytest.mark.parametrize(
    "message",
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
def test_email_addresses_are_redacted(formatter, message):
    text = formatter.format(record(f"{message.replace('%', '%%')} %s"))
    assert not any(part in text for part in ("@", "buyer", "neil", "example"))
    assert "(address)" in text


def test_the_text_around_an_address_is_kept():
    message = "{'to': 'buyer@example.com', 'tier': 'full'} at 40% of 4,000"
    assert redact(message) == "{'to': '(address)', 'tier': 'full'} at 40% of 4,000"


def test_a_json_line_is_one_object_on_one_line():
    text = JsonFormatter().format(record("first\nsecond \u2028 %s"))
    assert text.isascii()
    assert "\n" not in text
    line = json.loads(text)
    assert list(line) == ["at", "level", "logger", "message", "process", "error"]
    assert (line["level"], line["logger"]) == ("ERROR", "x")
    assert line["message"].startswith("first\nsecond")
    assert "RuntimeError" in line["error"]
    assert line["at"].endswith("+00:00")


def test_stack_info_is_redacted():
    stacked = record()
    stacked.exc_info, stacked.stack_info = None, f"in {SESSION}"
    assert json.loads(JsonFormatter().format(stacked))["stack"] == f"in {short_hash(SESSION)}"


def test_a_record_has_the_session_of_its_context():
    plain = RedactingFormatter(**formatter_options())
    with log_session(SESSION):
        with_session = record("x%s")
        assert SessionFilter().filter(with_session)
    assert json.loads(JsonFormatter().format(with_session))["session"] == short_hash(SESSION)
    assert f" ERROR {short_hash(SESSION)} x: " in plain.format(with_session)
    other = record("x%s")
    SessionFilter().filter(other)
    assert "session" not in json.loads(JsonFormatter().format(other))
    assert " ERROR - x: " in plain.format(other)
    assert " ERROR - x: " in plain.format(record("x%s"))  # a record that no filter has seen


def formatter_options() -> dict:
    options = service_log("line")["formatters"]["line"]
    return {name: value for name, value in options.items() if name != "()"}


def failing(first: Exception, then: Exception, *, suppress: bool = False) -> Exception:
    """`then`, raised while `first` is handled; `suppress`: from None."""
    try:
        try:
            raise first
        except type(first):
            if suppress:
                raise then from None
            raise then  # noqa: B904 - the implicit context is tested
    except type(then) as error:
        return error


def test_messages_that_may_quote_a_customer_are_left_out_of_tracebacks():
    secret = "my secret plan"
    text = redacted_traceback(
        failing(IntegrityError(f"Failing row ({secret})"), ValueError(secret))
    )
    assert secret not in text
    assert secret not in redacted_traceback(KeyError(secret))
    parts = ["test_service_log.py", "django.db.utils.IntegrityError: (left out"]
    parts += ["\nand then\n", "test_service_log.py", "ValueError: (left out"]
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)


def test_messages_of_programming_errors_are_logged():
    assert redacted_traceback(TypeError("gold")) == "TypeError: gold"
    assert redacted_traceback(RuntimeError()) == "RuntimeError"
    error = OSError("first")
    error.__cause__ = error  # a circular chain
    assert redacted_traceback(error) == "OSError: first"


def test_a_suppressed_context_is_not_logged():
    text = redacted_traceback(failing(TypeError("first"), OSError("then"), suppress=True))
    assert text.endswith("OSError: then")
    assert "TypeError: " not in text


@pytest.mark.parametrize("form", ["line", "json"])
def test_the_setting_chooses_the_formatter(form):
    assert service_log(form)["handlers"]["console"]["formatter"] == form
    assert form in service_log(form)["formatters"]


@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("line", False)])
def test_a_process_logs_in_the_configured_format(form, is_json):
    code = f"""
import logging
from audit.log_context import log_session
logging.getLogger('y').warning('at {SESSION}')
with log_session('{SESSION}'):
    logging.getLogger('y').warning('inside')
"""
    process = run_python(code, form)
    assert process.returncode == 0
    first, second = process.stderr.splitlines()
    assert SESSION not in process.stderr
    assert short_hash(SESSION) in first
    assert first.startswith('{"at": ') is is_json
    if is_json:
        assert "session" not in json.loads(first)
        assert json.loads(second)["session"] == short_hash(SESSION)
    else:
        assert f" WARNING - y: at {short_hash(SESSION)}" in first
        assert f" WARNING {short_hash(SESSION)} y: inside" in second


def test_an_unknown_format_is_rejected():
    process = run_python("", "xml")
    assert process.returncode != 0
    assert "ORACLE_LOG_FORMAT must be line or json" in process.stderr


def run_python(code: str, form: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"],
        cwd=ROOT,
        env=child_env(DJANGO_SETTINGS_MODULE="oracle_site.settings", ORACLE_LOG_FORMAT=form),
        capture_output=True,
        text=True,
        check=False,
    )


def test_long_messages_are_truncated():
    text = redact(f"Invalid HTTP_HOST header: {'a' * 400_000}")
    assert text.startswith("Invalid HTTP_HOST header: … (400,026 characters)")
    assert redact("word " * 10_000).endswith(" word … (50,000 characters)")
    assert "buyer" not in redact("a" * 19_990 + " buyer@example.com")


def test_client_errors_are_logged_without_a_traceback():
    visit = "from django.test import Client; Client().get('/', HTTP_HOST='evil.example')"
    lines = run_python(visit, "line").stderr.splitlines()
    assert len(lines) == 1
    assert " ERROR - django.security.DisallowedHost: Invalid HTTP_HOST header" in lines[0]


@pytest.mark.parametrize("escaped", ["cs%5Ftest%5F", "cs%5ftest_", "cs%255Ftest%255F"])
def test_a_session_id_is_redacted_however_a_url_escapes_it(escaped):
    text = redact(f"Invalid HTTP request line: 'GET /?session_id={escaped}abc123DEF HTTP/1.1'")
    assert "abc123DEF" not in text
