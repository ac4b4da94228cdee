"""`{% load formatting %}`: the functions of `verdicts.core.formatting` as template filters.

A value that is missing stays empty, so that `|default:"–"` can follow.
"""

from collections.abc import Callable
from typing import Any

from django import template

from verdicts.core import formatting

register = template.Library()


def _optional(function: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "" if value in (None, "") else function(value)


for function in (
    formatting.format_date,
    formatting.format_datetime,
    formatting.format_timestamp,
    formatting.format_time,
    formatting.format_long_date,
    formatting.format_long_datetime,
    formatting.format_wait,
    formatting.format_score,
):
    register.filter(function.__name__, _optional(function))
