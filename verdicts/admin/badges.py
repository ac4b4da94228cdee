"""A column of a list as a coloured label."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.utils import display_for_label

Column = Callable[[Any, Any], tuple[str, str]]


def tinted(description: str, **tones: str) -> Callable[[Column], Callable[[Any, Any], SafeString]]:
    """The method returns the value that chooses the tone, and the words that are shown."""

    @lru_cache(maxsize=64)  # few words, and each row of a list would render a template
    def label(value: str, words: str) -> SafeString:
        shown: SafeString = display_for_label((value, words), "–", tones)
        return shown

    def decorate(column: Column) -> Callable[[Any, Any], SafeString]:
        @admin.display(description=description)
        @wraps(column)
        def shown(model_admin: Any, obj: Any) -> SafeString:
            return label(*column(model_admin, obj))

        return shown

    return decorate
