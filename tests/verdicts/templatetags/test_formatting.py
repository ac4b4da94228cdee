"""Templates format dates, times and scores only by the filters of `verdicts.core.formatting`."""

import re
from datetime import UTC, datetime

import pytest
from django.template import Context, Template

from tests.support.file_sizes import ROOT

OWN_FORMAT = re.compile(r"\|(?:date|time|timesince|timeuntil|floatformat)\b|\{% now ")
TEMPLATES = [path for path in (ROOT / "templates").rglob("*.*") if path.is_file()]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_has_a_format_of_its_own(path):
    assert OWN_FORMAT.findall(path.read_text()) == []


def test_a_missing_value_stays_empty():
    template = Template('{% load formatting %}{{ at|format_datetime|default:"–" }}')
    assert template.render(Context({"at": datetime(2026, 5, 3, 14, 5, tzinfo=UTC)})) == (
        "2026-05-03 14:05"
    )
    assert template.render(Context({"at": None})) == template.render(Context()) == "–"
