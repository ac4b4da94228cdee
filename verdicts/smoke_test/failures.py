"""What a check can come to, beside being well."""

from typing import Final

CONSOLE: Final = "the order's page in the console has the whole story"


class NotRun(Exception):
    """It cannot be induced here; the message says why."""


class Failed(Exception):
    def __init__(self, expected: str, seen: str, todo: str) -> None:
        super().__init__(f"expected {expected}, saw {seen}")
        self.expected, self.seen, self.todo = expected, seen, todo
