"""How a check ends, unless it passes."""

from typing import Final

CONSOLE: Final = "see the order's page in the console"


class NotRun(Exception):
    """The check is impossible here; the message says why."""


class Failed(Exception):
    """`expected` and `seen` complete "expected ..., saw ..."; `todo` says what to do next."""

    def __init__(self, expected: str, seen: str, todo: str) -> None:
        super().__init__(f"expected {expected}, saw {seen}")
        self.expected, self.seen, self.todo = expected, seen, todo
