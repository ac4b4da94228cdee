"""The crowd: a model that takes few requests a second, and everybody orders at once.

Nothing is broken here. What is looked at is what the others notice: who reads a
verdict that is there, who comes back to a page that is lost, and who paid first.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from drill.display import Display
from drill.invariants.facts import number_in
from drill.invariants.quiescence import wait_for_quiet
from drill.load.plan import VERDICT, Customer, customers
from drill.load.scene import Scene

BUYERS: Final = 32  # who order at the same moment
BEFORE: Final = 24  # who have their verdict before the crowd comes
LOST: Final = 12  # of those, whose page is lost
READERS: Final = 2
PAUSE: Final = 0.1  # between two reads of one reader
CALM: Final = 50  # reads before the crowd comes
FOUND, REGENERATING = 200, 202
# The site as it is sold, and not as it is hurried in a storm, but for the places: fewer
# in both processes together than there are readers of lost pages.
SETTINGS: Final = {
    "ORACLE_MODEL_DEADLINE": "60",
    "ORACLE_REGENERATION_DEADLINE": "25",
    "ORACLE_MAX_REGENERATIONS": "4",
    "ORACLE_MAX_CHECKOUTS": str(BUYERS),
}


@dataclass
class Felt:
    """What was noticed; times in seconds."""

    calm: list[float] = field(default_factory=list)  # hits before the crowd came
    crowded: list[float] = field(default_factory=list)
    missed: int = 0  # hits that were none
    regenerated: list[float] = field(default_factory=list)  # until a lost page was there again
    unanswered: int = 0  # lost pages that never were
    turned_away: int = 0  # readers of lost pages who were asked to wait
    ordered: float = 0.0  # until the last of the crowd had paid
    drained: float = 0.0  # from then on, until nothing was left to do
    paid: list[int] = field(default_factory=list)  # the crowd, in the order of payment
    begun: list[int] = field(default_factory=list)  # and in the order in which they were judged


def plain(seed: int, orders: int) -> list[Customer]:
    """Customers whom nothing befalls."""
    calm = {"pays": "card", "event": None, "model": (), "answer": VERDICT, "mail": ()}
    return [replace(one, **calm, returns="", refund="") for one in customers(seed, orders)]  # type: ignore[arg-type]


@dataclass
class Crowd:
    scene: Scene
    customers: list[Customer]
    pace: float  # requests a second that the model takes
    display: Display
    felt: Felt = field(default_factory=Felt)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> Felt:
        before, crowd = self.customers[:BEFORE], self.customers[BEFORE:]
        sessions = self._buy(before)
        wait_for_quiet(self.scene.examiner, self.display)
        lost, kept = sessions[:LOST], sessions[LOST:]
        for number in range(CALM):
            self._hit(kept[number % len(kept)], self.felt.calm)
        self.scene.sandbox.settings(rate=self.pace)
        with ThreadPoolExecutor(READERS + LOST) as readers:
            reading = [readers.submit(self._read_on, kept) for _ in range(READERS)]
            try:
                self._crowd_in(crowd)
                self._lose(lost)
                returning = [readers.submit(self._come_back, session) for session in lost]
                self._drain(len(crowd))
                for one in returning:
                    one.result()
            finally:
                self._over.set()
            for one in reading:
                one.result()
        # The last page may have been made after all orders were judged: it is compared now.
        wait_for_quiet(self.scene.examiner, self.display)
        self._look_back({one.number for one in crowd})
        return self.felt

    def _crowd_in(self, crowd: list[Customer]) -> None:
        began = time.monotonic()
        self._buy(crowd)
        self.felt.ordered = time.monotonic() - began

    def _drain(self, orders: int) -> None:
        timeout = 300 + 2 * orders / self.pace
        wait = wait_for_quiet(self.scene.examiner, self.display, skip=False, timeout=timeout)
        self.felt.drained = wait.seconds

    def _look_back(self, crowd: set[int]) -> None:
        paid = self.scene.examiner.insist("paid")
        self.felt.paid = [number for number in paid if number in crowd]
        asked = (number_in(one["body"]) for one in self.scene.sandbox.requests("gemini"))
        self.felt.begun = [number for number in dict.fromkeys(asked) if number in crowd]

    def _buy(self, crowd: list[Customer]) -> list[str]:
        with ThreadPoolExecutor(BUYERS) as buyers:
            bought = []
            for session in buyers.map(self.scene.visits.buy, crowd):
                bought.append(session)
                self.display.show(f"Ordering: {len(bought):,} of {len(crowd):,}")
        return bought

    def _lose(self, sessions: list[str]) -> None:
        self.scene.met.evicted.update(self.scene.examiner.insist("evict", sessions=sessions))

    def _read_on(self, sessions: list[str]) -> None:
        turn = 0
        while not self._over.wait(PAUSE):
            self._hit(sessions[turn % len(sessions)], self.felt.crowded)
            turn += 1

    def _hit(self, session: str, took: list[float]) -> None:
        began = time.monotonic()
        answer = self.scene.visits.read(session)
        took.append(time.monotonic() - began)
        if answer is None or answer.status_code != FOUND:
            self.felt.missed += 1

    def _come_back(self, session: str) -> None:
        """As the page does it: looks again when it is told to."""
        began = time.monotonic()
        answer = self.scene.visits.read(session)
        while answer is not None and answer.status_code == REGENERATING:
            self.felt.turned_away += 1
            time.sleep(float(answer.headers["Retry-After"]))
            answer = self.scene.visits.read(session)
        self.felt.regenerated.append(time.monotonic() - began)
        if answer is None or answer.status_code != FOUND:
            self.felt.unanswered += 1
