"""The load scenario (`--crowd`): all orders at once, on a model that takes few requests a second.

No faults. It measures what other customers notice: readers of cached verdicts, readers of
evicted pages, and whether orders are processed in the order of payment.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from drill.display import ProgressDisplay
from drill.invariants.facts import number_in
from drill.invariants.quiescence import wait_for_quiet
from drill.load.workload import Customer, plan_customers, without_faults
from drill.testbed import Testbed

CONCURRENT_BUYERS: Final = 32
WARM_UP_ORDERS: Final = 24  # delivered before the load starts
EVICTED: Final = 12  # of those
READERS: Final = 2  # of the others
READ_INTERVAL: Final = 0.1
BASELINE_READS: Final = 50  # before the load starts
FOUND, REGENERATING = 200, 202
# The deployed defaults, not the fault scenario's short deadlines; but fewer regeneration slots,
# in both web processes together, than readers of evicted pages.
SETTINGS: Final = {
    "ORACLE_MODEL_DEADLINE": "60",
    "ORACLE_REGENERATION_DEADLINE": "25",
    "ORACLE_MAX_REGENERATIONS": "4",
    "ORACLE_MAX_CHECKOUTS": str(CONCURRENT_BUYERS),
}


@dataclass
class Measurements:
    """Times in seconds."""

    baseline_hits: list[float] = field(default_factory=list)  # before the load
    loaded_hits: list[float] = field(default_factory=list)  # under load
    missed_hits: int = 0  # reads of cached verdicts that were not answered with one
    regenerated: list[float] = field(default_factory=list)  # until an evicted page was read
    not_regenerated: int = 0
    told_to_wait: int = 0  # 202 responses to readers of evicted pages
    ordering_seconds: float = 0.0  # until the last order under load was paid
    draining_seconds: float = 0.0  # from then until nothing was pending
    paid: list[int] = field(default_factory=list)  # customers' numbers, in the order of payment
    started: list[int] = field(default_factory=list)  # in the order of their first model call


def plan_load(seed: int, orders: int) -> list[Customer]:
    """The orders under load, after those of the warm-up."""
    return [without_faults(one) for one in plan_customers(seed, WARM_UP_ORDERS + orders)]


@dataclass
class LoadScenario:
    testbed: Testbed
    customers: list[Customer]
    pace: float  # requests a second that the model takes
    display: ProgressDisplay
    measured: Measurements = field(default_factory=Measurements)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> Measurements:
        warm_up, load = self.customers[:WARM_UP_ORDERS], self.customers[WARM_UP_ORDERS:]
        sessions = self._buy(warm_up)
        self._wait_for_quiet()
        evicted, cached = sessions[:EVICTED], sessions[EVICTED:]
        for number in range(BASELINE_READS):
            self._hit(cached[number % len(cached)], self.measured.baseline_hits)
        self.testbed.sandbox.settings(rate=self.pace)
        with ThreadPoolExecutor(READERS + EVICTED) as readers:
            reading = [readers.submit(self._read_repeatedly, cached) for _ in range(READERS)]
            try:
                self._place_orders(load)
                self._evict(evicted)
                returning = [readers.submit(self._read_evicted, session) for session in evicted]
                self._drain(len(load))
                for one in returning:
                    one.result()
            finally:
                self._over.set()
            for one in reading:
                one.result()
        # The last page may be regenerated after all orders are processed: it is compared now.
        self._wait_for_quiet()
        self._read_order_of_processing({one.number for one in load})
        return self.measured

    def _wait_for_quiet(self) -> None:
        wait_for_quiet(self.testbed.inspector, self.display)

    def _place_orders(self, customers: list[Customer]) -> None:
        started = time.monotonic()
        self._buy(customers)
        self.measured.ordering_seconds = time.monotonic() - started

    def _drain(self, orders: int) -> None:
        timeout = 300 + 2 * orders / self.pace
        wait = wait_for_quiet(self.testbed.inspector, self.display, skip=False, timeout=timeout)
        self.measured.draining_seconds = wait.seconds

    def _read_order_of_processing(self, numbers: set[int]) -> None:
        paid = self.testbed.inspector.call_with_retry("paid")
        self.measured.paid = [number for number in paid if number in numbers]
        called = (number_in(one["body"]) for one in self.testbed.sandbox.requests("gemini"))
        self.measured.started = [number for number in dict.fromkeys(called) if number in numbers]

    def _buy(self, customers: list[Customer]) -> list[str]:
        with ThreadPoolExecutor(CONCURRENT_BUYERS) as buyers:
            sessions = []
            for session in buyers.map(self.testbed.client.buy, customers):
                sessions.append(session)
                self.display.show(f"Ordering: {len(sessions):,} of {len(customers):,}")
        return sessions

    def _evict(self, sessions: list[str]) -> None:
        evicted = self.testbed.inspector.call_with_retry("evict", sessions=sessions)
        self.testbed.client_facts.evicted.update(evicted)

    def _read_repeatedly(self, sessions: list[str]) -> None:
        count = 0
        while not self._over.wait(READ_INTERVAL):
            self._hit(sessions[count % len(sessions)], self.measured.loaded_hits)
            count += 1

    def _hit(self, session: str, seconds: list[float]) -> None:
        started = time.monotonic()
        response = self.testbed.client.read(session)
        seconds.append(time.monotonic() - started)
        if response is None or response.status_code != FOUND:
            self.measured.missed_hits += 1

    def _read_evicted(self, session: str) -> None:
        """As the page does it: retry after the time that a 202 asks for."""
        started = time.monotonic()
        response = self.testbed.client.read(session)
        while response is not None and response.status_code == REGENERATING:
            self.measured.told_to_wait += 1
            time.sleep(float(response.headers["Retry-After"]))
            response = self.testbed.client.read(session)
        self.measured.regenerated.append(time.monotonic() - started)
        if response is None or response.status_code != FOUND:
            self.measured.not_regenerated += 1
