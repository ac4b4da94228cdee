"""List columns that are shown as coloured badges."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.utils import display_for_label

Column = Callable[[Any, Any], tuple[str, str]]


def badge_column(
    description: str, **colours: str
) -> Callable[[Column], Callable[[Any, Any], SafeString]]:
    """Decorates a method that returns a key of `colours` and the text to show."""

    @lru_cache(maxsize=64)  # each badge renders a template, and a list repeats a few of them
    def badge(key: str, text: str) -> SafeString:
        rendered: SafeString = display_for_label((key, text), "–", colours)
        return rendered

    def decorate(column: Column) -> Callable[[Any, Any], SafeString]:
        @admin.display(description=description)
        @wraps(column)
        def render(model_admin: Any, obj: Any) -> SafeString:
            return badge(*column(model_admin, obj))

        return render

    return decorate
