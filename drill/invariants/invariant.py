"""One invariant, what was checked of it and what was found. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from drill.invariants.facts import Facts, OrderFacts
from drill.load.plan import Customer


@dataclass(slots=True)
class Invariant:
    name: str
    checked: int = 0
    violations: list[str] = field(default_factory=list)
    note: str = ""  # what was found and what is allowed, where both are numbers

    def check(self, holds: object, otherwise: str) -> None:
        self.checked += 1
        if not holds:
            self.violations.append(otherwise)


def paid_orders(facts: Facts) -> Iterator[tuple[Customer, OrderFacts]]:
    """Those who paid, as far as their orders are known here."""
    orders = {order.session: order for order in facts.site.orders}
    for customer in facts.customers:
        session = facts.paid.get(customer.number)
        if session in orders:
            yield customer, orders[session]
