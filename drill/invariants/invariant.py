"""One invariant with its checks and violations. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from drill.invariants.facts import Facts, OrderFacts
from drill.load.workload import Customer


@dataclass(slots=True)
class Invariant:
    name: str
    checked: int = 0
    violations: list[str] = field(default_factory=list)
    note: str = ""  # the numbers found and allowed, for the report

    def check(self, holds: object, otherwise: str) -> None:
        self.checked += 1
        if not holds:
            self.violations.append(otherwise)


def paid_orders(facts: Facts) -> Iterator[tuple[Customer, OrderFacts]]:
    """The customers who paid and whose order exists."""
    orders = {order.session: order for order in facts.site.orders}
    for customer in facts.customers:
        session = facts.paid.get(customer.number)
        if session in orders:
            yield customer, orders[session]
