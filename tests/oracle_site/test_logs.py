import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from audit.core.redaction import short_hash
from oracle_site.logs import JsonLines, Redacting, service_log
from tests.child_env import child_env

SESSION = "cs_test_a1B2c3D4e5"
ROOT = Path(__file__).parents[2]


def record(message: str = "at /cache/%s") -> logging.LogRecord:
    error = LookupError(SESSION)
    what = (type(error), error, None)
    return logging.LogRecord("x", logging.ERROR, "", 1, message, (SESSION,), what)


@pytest.mark.parametrize("formatter", [Redacting("%(message)s"), JsonLines()])
def test_no_line_and_no_traceback_holds_a_session_id(formatter):
    told = formatter.format(record())
    assert SESSION not in told
    assert told.count(short_hash(SESSION)) == 2


def test_a_json_line_is_one_object_on_one_line():
    told = JsonLines().format(record("first\nsecond \u2028 %s"))
    assert told.isascii()
    assert "\n" not in told
    line = json.loads(told)
    assert list(line) == ["at", "level", "logger", "message", "process", "error"]
    assert (line["level"], line["logger"]) == ("ERROR", "x")
    assert line["message"].startswith("first\nsecond")
    assert "LookupError" in line["error"]
    assert line["at"].endswith("+00:00")


def test_where_it_was_called_from_is_redacted_too():
    stacked = record()
    stacked.exc_info, stacked.stack_info = None, f"in {SESSION}"
    assert json.loads(JsonLines().format(stacked))["stack"] == f"in {short_hash(SESSION)}"


@pytest.mark.parametrize("form", ["line", "json"])
def test_the_setting_chooses_the_formatter(form):
    assert service_log(form)["handlers"]["console"]["formatter"] == form
    assert form in service_log(form)["formatters"]


@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("line", False)])
def test_a_process_writes_its_log_in_the_form_that_is_set(form, is_json):
    said = say(f"import logging; logging.getLogger('y').warning('at {SESSION}')", form)
    assert said.returncode == 0
    (line,) = said.stderr.splitlines()
    assert SESSION not in line
    assert short_hash(SESSION) in line
    assert line.startswith('{"at": ') is is_json


def test_another_form_is_refused():
    said = say("", "xml")
    assert said.returncode != 0
    assert "ORACLE_LOG_FORMAT must be line or json" in said.stderr


def say(code: str, form: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {code}"],
        cwd=ROOT,
        env=child_env(DJANGO_SETTINGS_MODULE="oracle_site.settings", ORACLE_LOG_FORMAT=form),
        capture_output=True,
        text=True,
        check=False,
    )
