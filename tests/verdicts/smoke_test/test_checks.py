import re
from pathlib import Path

import pytest
from django.db import OperationalError

from verdicts.smoke_test import checks
from verdicts.smoke_test.checks import CHECKS, run_checks
from verdicts.smoke_test.failures import Failed, NotRun

PAGE = (Path(__file__).parents[3] / "docs/OPERATING.md").read_text()


def test_the_operators_page_tells_of_every_check_in_its_order():
    section = PAGE.partition("\n## smoke_test\n")[2]
    table = section.partition("| Check |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == list(CHECKS)
    transcript = section.partition("manage.py smoke_test\n")[2].partition("```")[0]
    assert re.findall(r"^ok +([a-z ]+?)  ", transcript, re.MULTILINE) == list(CHECKS)


def ends(error: Exception):
    def check(_) -> str:
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "state", "says"),
    [
        (NotRun("not here"), "not run", "not here"),
        (Failed("a", "b", "c"), "FAIL", "expected a, saw b"),
        (OperationalError("row with a secret"), "FAIL", "saw OperationalError"),
    ],
)
def test_a_failure_is_the_last_and_what_is_not_run_is_not(run, monkeypatch, error, state, says):
    order = {"first": lambda _: "well", "second": ends(error), "third": lambda _: "well"}
    monkeypatch.setattr(checks, "CHECKS", order)
    results = list(run_checks(run()))
    assert [one.name for one in results] == list(order)[: 2 if state == "FAIL" else 3]
    assert (results[1].state, says in results[1].says) == (state, True)
    assert "secret" not in results[1].says
