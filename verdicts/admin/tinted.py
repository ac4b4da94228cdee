"""A column of a list as a coloured label."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from unfold.decorators import display

Column = TypeVar("Column", bound=Callable[..., tuple[str, str]])


def tinted(description: str, **tones: str) -> Callable[[Column], Column]:
    """The method returns the value that chooses the tone, and the words that are shown."""

    def decorate(column: Column) -> Column:
        shown: Any = display(description=description, label=tones)
        return cast("Column", shown(column))

    return decorate
