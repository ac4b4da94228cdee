"""The fault scenario: push orders through the site while faults are injected, until it is quiet."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from drill.display import ProgressDisplay
from drill.failures import DatabaseUnreachable
from drill.faults.fault_injector import FaultInjector
from drill.faults.faults import Fault
from drill.faults.kill_stages import Stage, disarm_all, replaced_pools
from drill.invariants.quiescence import Wait, wait_for_quiet
from drill.load.workload import Customer
from drill.testbed import Testbed

CONCURRENT_CUSTOMERS: Final = 8
ORDERS_BEFORE_RETURN: Final = 20  # between a customer's order and the eviction of its page
MAX_FINAL_READS: Final = 100  # of pages that are still evicted in the end
WEBHOOK_TIMEOUT: Final = 180.0  # seconds


@dataclass(frozen=True, slots=True)
class RunResult:
    """How the run went."""

    ordering_seconds: float  # until the last order was placed
    wait: Wait
    not_reached: list[Stage]  # armed, but no process got there any more
    replaced_pools: Counter[str]  # found stuck by the worker's watchdog, by queue


@dataclass
class FaultScenario:
    testbed: Testbed
    customers: list[Customer]
    display: ProgressDisplay
    _to_return: list[Customer] = field(init=False)
    _sessions: dict[int, str] = field(default_factory=dict)  # by the customer's number
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _all_ordered: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._to_return = [
            one
            for one in self.customers
            if one.expected_outcome == "delivered" and one.regeneration
        ]

    def run(self, faults: list[Fault], injector: FaultInjector) -> RunResult:
        started = time.monotonic()
        with ThreadPoolExecutor(CONCURRENT_CUSTOMERS + 2) as threads:
            injecting = threads.submit(
                injector.run, faults, orders=self._orders, over=self._all_ordered
            )
            returning = threads.submit(self._return_while_ordering)
            orders = [threads.submit(self._buy, customer) for customer in self.customers]
            try:
                for order in orders:
                    order.result()
            finally:
                self._all_ordered.set()
                injector.stop()
            ordering_seconds = time.monotonic() - started
            injecting.result()
            returning.result()
        self.testbed.sandbox.wait_for_webhooks(WEBHOOK_TIMEOUT)
        # Stages stay armed: the work that is left can still reach them.
        wait = self._wait()
        self._return_to_evicted(list(self._to_return))
        self.testbed.inspector.call_with_retry("queue_sweep")
        wait += self._wait()
        self._read_pages_still_evicted()
        wait += self._wait()
        not_reached = disarm_all(self.testbed.stages)
        return RunResult(ordering_seconds, wait, not_reached, replaced_pools(self.testbed.stages))

    def _wait(self) -> Wait:
        return wait_for_quiet(self.testbed.inspector, self.display)

    def _read_pages_still_evicted(self) -> None:
        """Nothing else regenerates them any more, so each read has to reach a final status."""
        facts, inspector = self.testbed.client_facts, self.testbed.inspector
        evicted = inspector.call_with_retry("evicted", sessions=list(facts.evicted))
        sessions = evicted[:MAX_FINAL_READS]
        facts.evicted.update(sessions)  # each allows one more regeneration
        with ThreadPoolExecutor(CONCURRENT_CUSTOMERS) as readers:
            final = list(readers.map(self.testbed.client.read_until_final, sessions))
        facts.never_final += [
            session for session, ended in zip(sessions, final, strict=True) if not ended
        ]

    def _orders(self) -> int:
        return len(self._sessions)

    def _buy(self, customer: Customer) -> None:
        session = self.testbed.client.buy(customer)
        with self._lock:
            self._sessions[customer.number] = session
            self.display.show(f"Ordering: {self._orders():,} of {len(self.customers):,}")

    def _return_while_ordering(self) -> None:
        while not self._all_ordered.wait(0.5):
            so_far = self._orders()
            self._return_to_evicted(
                [one for one in self._to_return if one.number + ORDERS_BEFORE_RETURN <= so_far]
            )

    def _return_to_evicted(self, customers: list[Customer]) -> None:
        """Evict the pages of those whose verdict was delivered, and read them again."""
        with ThreadPoolExecutor(CONCURRENT_CUSTOMERS) as readers:
            for customer in self._evict(customers):
                self._to_return.remove(customer)
                session = self._sessions[customer.number]
                readers.submit(self.testbed.client.read_evicted, customer, session)

    def _evict(self, customers: list[Customer]) -> list[Customer]:
        """Those whose page was evicted."""
        with self._lock:
            by_session = {
                self._sessions[one.number]: one for one in customers if one.number in self._sessions
            }
        if not by_session:
            return []
        try:
            evicted = self.testbed.inspector.call("evict", sessions=list(by_session))
        except DatabaseUnreachable:
            return []
        self.testbed.client_facts.evicted.update(evicted)
        return [by_session[session] for session in evicted]
