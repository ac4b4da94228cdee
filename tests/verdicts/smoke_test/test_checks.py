import re
from pathlib import Path

import pytest
from django.db import OperationalError

from verdicts.smoke_test import checks
from verdicts.smoke_test.checks import CHECKS, run_checks
from verdicts.smoke_test.failures import Failed, NotRun

PAGE = (Path(__file__).parents[3] / "docs/OPERATING.md").read_text()


def test_the_operators_page_documents_every_check_in_order():
    section = PAGE.partition("\n## smoke_test\n")[2]
    table = section.partition("| Check |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == list(CHECKS)
    transcript = section.partition("manage.py smoke_test\n")[2].partition("```")[0]
    assert re.findall(r"^ok +([a-z ]+?)  ", transcript, re.MULTILINE) == list(CHECKS)


def check_raising(error: Exception):
    def check(_) -> str:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [
        (NotRun("not here"), "not run", "not here"),
        (Failed("a", "b", "c"), "FAIL", "expected a, saw b"),
        (OperationalError("row with a secret"), "FAIL", "saw OperationalError"),
    ],
)
def test_a_failure_is_the_last_result_and_not_run_is_none(run, monkeypatch, error, state, message):
    order = {
        "first": lambda _: "passed",
        "second": check_raising(error),
        "third": lambda _: "passed",
    }
    monkeypatch.setattr(checks, "CHECKS", order)
    results = list(run_checks(run()))
    assert [one.name for one in results] == list(order)[: 2 if state == "FAIL" else 3]
    assert (results[1].state, message in results[1].message) == (state, True)
    assert "secret" not in results[1].message
