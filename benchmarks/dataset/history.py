"""The history of each order as a function of its number, so that tables can be written separately.

One in fifty was rejected by the gate, one in a thousand failed, all others were
delivered; one in twenty was regenerated, and one in 35 of those diverged.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from benchmarks.dataset.samples import Sample

# One in so many orders.
REJECTED: Final = 50
FAILED: Final = 997
REGENERATED: Final = 20
DIVERGED: Final = 700
SIGNIFICANT: Final = 7_000  # divergences
OPEN_CASE: Final = 5_000  # a rejected order whose case is not yet decided
_OFFSET: Final = 3  # so that no order is both rejected and regenerated

# Seconds from an order's payment to each event.
ORDERED, MODEL_CALLED, GATED, EMAILED = -40, 2, 3, 4
REGEN_CALLED, REGEN_GATED, COMPARED, CASE_CLOSED = 3_600, 3_601, 3_602, 7_200
_MAX_DURATION: Final = timedelta(hours=3)  # from payment to the last event


class OrderHistory:
    """Orders spread evenly over the days before `until` (naive UTC)."""

    def __init__(self, orders: int, *, days: int, until: datetime, samples: list[Sample]) -> None:
        self.orders, self.samples = orders, samples
        self._start = until - _MAX_DURATION - timedelta(days=days)
        self._step = days * 86_400 / orders

    @property
    def numbers(self) -> range:
        return range(1, self.orders + 1)

    @property
    def regen_offset(self) -> int:
        """Add to an order's number for the id of a row that belongs to its regeneration."""
        return self.orders

    def sample(self, number: int) -> Sample:
        return self.samples[number % len(self.samples)]

    def at(self, number: int, after: float = 0) -> str:
        """The time of its payment plus `after` seconds, as text that both databases parse."""
        at = self._start + timedelta(0, self._step * number + after)
        return at.isoformat(" ", "microseconds")


def session_id(number: int) -> str:
    """In Stripe's format and length, pseudorandom."""
    return f"cs_test_{blake2b(b'%d' % number, digest_size=29).hexdigest()}"


def payment_intent(number: int) -> str:
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


def has_open_case(number: int) -> bool:
    """Its case is not yet decided by staff."""
    return number % OPEN_CASE == 0


def level(number: int) -> str:
    """The divergence level between its regeneration and its original."""
    if number % DIVERGED != _OFFSET:
        return "none"
    return "significant" if number % SIGNIFICANT == _OFFSET else "minor"


def chunks(numbers: range, size: int = 1_000) -> Iterator[range]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))
