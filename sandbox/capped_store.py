"""In-memory stores with a size limit: the oldest entries are evicted first.

A drill sends thousands of orders through one sandbox, which keeps all of its
state in memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import RLock
from typing import Final, Generic, TypeVar

MAX_ITEMS: Final = 20_000
MAX_BYTES: Final = 256 * 1024 * 1024

V = TypeVar("V")


class CappedStore(Generic[V]):
    """Entries by key, in insertion order. Thread-safe.

    `size` returns the bytes of an entry; with it, `max_bytes` limits the store as well.
    """

    def __init__(
        self,
        max_items: int = MAX_ITEMS,
        *,
        size: Callable[[V], int] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._lock = RLock()
        self._entries: OrderedDict[str, V] = OrderedDict()
        self._max_items, self._max_bytes = max_items, max_bytes
        self._size = size
        self._bytes = 0

    def put(self, key: str, value: V) -> None:
        with self._lock:
            self.pop(key)
            self._entries[key] = value
            self._bytes += self._size_of(value)
            while len(self._entries) > self._max_items or (
                self._bytes > self._max_bytes and len(self._entries) > 1
            ):
                self.pop(next(iter(self._entries)))

    def pop(self, key: str) -> V | None:
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None:
                self._bytes -= self._size_of(value)
            return value

    def get(self, key: str) -> V | None:
        with self._lock:
            return self._entries.get(key)

    def oldest_first(self) -> list[V]:
        with self._lock:
            return list(self._entries.values())

    def newest_first(self) -> Iterator[V]:
        return reversed(self.oldest_first())

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _size_of(self, value: V) -> int:
        return self._size(value) if self._size else 0
