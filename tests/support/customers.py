"""Customers of a whole site, with orders in each state that a page can show."""

import itertools
import json
from collections.abc import Mapping

from drill.sites.live_site import LiveSite
from drill.sites.processes import wait_for

IDEA = (
    "A repair café in the empty shop beside the library, every second Saturday. Volunteers mend "
    "lamps, bicycles and clothes; visitors pay what they like, and learn to do it themselves."
)


class Customers:
    def __init__(self, site: LiveSite) -> None:
        self.site = site
        self._count = itertools.count(1)
        self._numbers: dict[str, str] = {}

    def number_of(self, session: str) -> str:
        """Three digits that occur only in this order's query and email address."""
        return self._numbers[session]

    def unpaid(self, tier: str = "full") -> str:
        number = f"{next(self._count):03}"
        order = {"tier": tier, "query": f"{IDEA} ({number})", "email": _email(number)}
        created = self.site.http.post("/api/checkout", json=order).raise_for_status().json()
        self._numbers[created["session_id"]] = number
        return created["session_id"]

    def buy(
        self, tier: str = "full", *, fault: str = "", mail_takes: float = 0, **more: object
    ) -> str:
        """A paid order; `fault` affects the model, and the email takes `mail_takes` seconds."""
        session = self.unpaid(tier)
        email = _email(self.number_of(session))
        if fault:
            self.next_time(session, fault, **more)
        if mail_takes:
            self.site.sandbox.fault("graph", "slow", match=email, seconds=mail_takes)
        self.site.sandbox.pay(session, email=email)
        return session

    def verdict(self, tier: str = "full", label: str = "GREEN") -> str:
        session = self.buy(tier, fault="verdict", label=label)
        self.wait(session, 200)
        return session

    def regenerated(self, tier: str, old: str, new: str) -> str:
        """An order whose verdict was regenerated and compared."""
        session = self.verdict(tier, old)
        self.settled(session)
        self.miss_all({session: new})
        self.site.result(session)
        self.settled(session)
        return session

    def miss_all(self, labels: Mapping[str, str]) -> None:
        """Removes the verdicts from the cache; their regenerations get these labels."""
        for session, label in labels.items():
            self.next_time(session, "verdict", label=label)
        self.shell(
            "from verdicts.models import CachedVerdict\n"
            f"CachedVerdict.objects.filter(session_id__in={json.dumps(list(labels))}).delete()"
        )

    def next_time(self, session: str, fault: str, **more: object) -> None:
        """Fault of the model's next answer about this order."""
        match = f"({self.number_of(session)})"
        self.site.sandbox.fault("gemini", fault, match=match, **more)

    def wait(self, session: str, status: int) -> None:
        wait_for(lambda: self.site.result(session).status_code == status)

    def settled(self, session: str) -> None:
        """Waits until the page no longer refreshes itself."""
        wait_for(lambda: "data-refresh-after" not in self.site.result(session).text)

    def shell(self, program: str) -> None:
        self.site.manage("shell", "-v0", "-c", program)


def _email(number: str) -> str:
    return f"customer{number}@example.com"
