"""The storm: orders are pushed through while the site is broken, until it is quiet again."""

import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from drill.display import Display
from drill.failures import DatabaseAway
from drill.faults.fault_injector import FaultInjector
from drill.faults.faults import Fault
from drill.faults.kill_stages import Stage, disarm_all
from drill.invariants.quiescence import Wait, wait_for_quiet
from drill.load.plan import Customer
from drill.load.scene import Scene

AT_ONCE: Final = 8  # customers
BEHIND: Final = 20  # orders between a purchase and the return to its page
LOOKED_AT: Final = 100  # lost pages, at the end
STRIPE_GIVES_UP: Final = 180.0


@dataclass(frozen=True, slots=True)
class Course:
    """How it went."""

    pushed: float  # seconds until the last order was in
    wait: Wait
    missed: list[Stage]  # armed, and passed by nobody
    restarted: Counter[str]  # pools that were found standing still, by their queue


@dataclass
class Storm:
    scene: Scene
    customers: list[Customer]
    display: Display
    _waiting: list[Customer] = field(init=False)  # who come back, and have not yet
    _sessions: dict[int, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pushed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        delivered = (one for one in self.customers if one.outcome == "delivered")
        self._waiting = [one for one in delivered if one.returns]

    def run(self, faults: list[Fault], injector: FaultInjector) -> Course:
        began = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE + 2) as crowd:
            injecting = crowd.submit(injector.run, faults, orders=self._orders, over=self._pushed)
            returning = crowd.submit(self._return)
            bought = [crowd.submit(self._buy, customer) for customer in self.customers]
            try:
                for one in bought:
                    one.result()
            finally:
                self._pushed.set()
                injector.stop()
            pushed = time.monotonic() - began
            injecting.result()
            returning.result()
        self.scene.sandbox.wait_for_webhooks(STRIPE_GIVES_UP)
        # What is armed still kills: there is work left that passes by.
        wait = wait_for_quiet(self.scene.examiner, self.display)
        self._come_back(list(self._waiting))
        self.scene.examiner.insist("order_sweep")
        wait += wait_for_quiet(self.scene.examiner, self.display)
        self._look_again()
        wait += wait_for_quiet(self.scene.examiner, self.display)
        missed = disarm_all(self.scene.stages)
        return Course(pushed, wait, missed, restarted=self._restarted())

    def _look_again(self) -> None:
        """At the pages that are still lost: nobody is at one any more, so each comes to an end."""
        evicted = list(self.scene.met.evicted)
        lost = self.scene.examiner.insist("lost", sessions=evicted)[:LOOKED_AT]
        self.scene.met.evicted.update(lost)  # each may be made once more
        with ThreadPoolExecutor(AT_ONCE) as visitors:
            ended = list(visitors.map(self.scene.visits.see_the_end, lost))
        self.scene.met.stuck += [
            session for session, end in zip(lost, ended, strict=True) if not end
        ]

    def _restarted(self) -> Counter[str]:
        ends = re.findall(
            r"^(generate|post): (?!The pool ended).*: the pool is replaced",
            self.scene.said.read_text(),
            re.MULTILINE,
        )
        return Counter(ends)

    def _orders(self) -> int:
        return len(self._sessions)

    def _buy(self, customer: Customer) -> None:
        session = self.scene.visits.buy(customer)
        with self._lock:
            self._sessions[customer.number] = session
            self.display.show(f"Ordering: {self._orders():,} of {len(self.customers):,}")

    def _return(self) -> None:
        """While others order, customers come back to pages that were removed meanwhile."""
        while not self._pushed.wait(0.5):
            so_far = self._orders()
            self._come_back([one for one in self._waiting if one.number + BEHIND <= so_far])

    def _come_back(self, due: list[Customer]) -> None:
        """Those of them whose verdict was delivered, and whose page is then removed."""
        with ThreadPoolExecutor(AT_ONCE) as visitors:
            for customer in self._evicted(due):
                self._waiting.remove(customer)
                session = self._sessions[customer.number]
                visitors.submit(self.scene.visits.come_back, customer, session)

    def _evicted(self, due: list[Customer]) -> list[Customer]:
        """Those of them whose page is gone now."""
        with self._lock:
            known = {self._sessions[one.number]: one for one in due if one.number in self._sessions}
        try:
            gone = self.scene.examiner.ask("evict", sessions=list(known)) if known else []
        except DatabaseAway:
            return []
        self.scene.met.evicted.update(gone)
        return [known[session] for session in gone]
