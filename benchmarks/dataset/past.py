"""What became of each order, by its number alone, so that every table can be written by itself.

One in fifty was rejected by the gate, one in a thousand failed, all others were
delivered; one in twenty was regenerated, and one in 35 of those diverged.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from benchmarks.dataset.ideas import Idea

REJECTED: Final = 50
FAILED: Final = 997
REGENERATED: Final = 20
DIVERGED: Final = 700
CONTRADICTED: Final = 7_000
UNDECIDED: Final = 5_000  # of the rejected: a person has yet to look
_OFFSET: Final = 3  # so that no order is both rejected and regenerated

# Seconds from an order's payment to what came of it.
ORDERED, ASKED, JUDGED, SENT = -40, 2, 3, 4
ASKED_AGAIN, JUDGED_AGAIN, COMPARED, DECIDED = 3_600, 3_601, 3_602, 7_200
_ALL_IS_OVER: Final = timedelta(hours=3)


class Past:
    """So many orders, evenly over the days before `until` (UTC, without a time zone)."""

    def __init__(self, orders: int, *, days: int, until: datetime, ideas: list[Idea]) -> None:
        self.orders, self.ideas = orders, ideas
        self._begun = until - _ALL_IS_OVER - timedelta(days=days)
        self._step = days * 86_400 / orders

    @property
    def numbers(self) -> range:
        return range(1, self.orders + 1)

    @property
    def beyond(self) -> int:
        """Added to an order's number: the id of what belongs to its regeneration."""
        return self.orders

    def idea(self, number: int) -> Idea:
        return self.ideas[number % len(self.ideas)]

    def at(self, number: int, after: float = 0) -> str:
        """When it was paid, or what came so many seconds `after`; as both databases read it."""
        at = self._begun + timedelta(0, self._step * number + after)
        return at.isoformat(" ", "microseconds")


def session_id(number: int) -> str:
    """As long as Stripe's, and as random."""
    return f"cs_test_{blake2b(b'%d' % number, digest_size=29).hexdigest()}"


def payment(number: int) -> str:
    return f"pi_{random_hex('pi', number)[:24]}"


def email(number: int) -> str:
    return f"buyer{number}@example.com"


def random_hex(name: str, number: int) -> str:
    return blake2b(f"{name}{number}".encode(), digest_size=16).hexdigest()


def is_rejected(number: int) -> bool:
    return number % REJECTED == 0


def is_failed(number: int) -> bool:
    return number % FAILED == 0 and not is_rejected(number)


def is_delivered(number: int) -> bool:
    return number % REJECTED != 0 and number % FAILED != 0


def is_regenerated(number: int) -> bool:
    return number % REGENERATED == _OFFSET and is_delivered(number)


def is_open(number: int) -> bool:
    """Its case still waits for somebody."""
    return number % UNDECIDED == 0


def level(number: int) -> str:
    """How far its regeneration was from its original."""
    if number % DIVERGED != _OFFSET:
        return "none"
    return "significant" if number % CONTRADICTED == _OFFSET else "minor"


def chunks(numbers: range, size: int = 1_000) -> Iterator[range]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))
