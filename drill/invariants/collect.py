"""Collects the facts of a drill before its site is stopped, and what was really injected."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from drill.faults.fault_injector import FaultInjector
from drill.invariants.facts import Facts, SiteFacts
from drill.invariants.sandbox_facts import leaks_in_mail, sandbox_facts
from drill.load.workload import Customer
from drill.scenarios.fault_scenario import RunResult
from drill.testbed import Testbed
from sandbox.client import SandboxClient

MAX_HITS: Final = 100  # cached verdicts that are read once more
IDLE_TIMEOUT: Final = 90.0  # seconds: the scheduler runs every 30 s
REFUNDS: Final = {
    "after_payment": "right after the payment",
    "before_payment_event": "reported before the payment",
}


def collect_facts(testbed: Testbed, customers: list[Customer], *, answers_at_risk: int) -> Facts:
    canary = f"canary-{customers[0].seed}-"
    _wait_for_scheduled_sweep(testbed)
    site = SiteFacts.read(testbed.inspector.call_with_retry("facts", canary=canary))
    clients = testbed.client_facts
    clients.leaks += leaks_in_mail(testbed.sandbox, canary)
    clients.wrong_hits += _wrong_hits(testbed, site)
    service_log = testbed.service_log.read_text(errors="replace")
    return Facts(
        customers=customers,
        site=site,
        sandbox=sandbox_facts(testbed.sandbox),
        clients=clients,
        service_log_leaks=[
            text for text in ("cs_test_", "@drill.example", canary) if text in service_log
        ],
        answers_at_risk=answers_at_risk,
    )


def _wait_for_scheduled_sweep(testbed: Testbed) -> None:
    """A short drill can be over before the first one; its job must not count as left pending."""
    deadline = time.monotonic() + IDLE_TIMEOUT
    while time.monotonic() < deadline and not testbed.inspector.call_with_retry("is_idle"):
        time.sleep(1.0)


def save_facts(facts: Facts, folder: Path) -> None:
    """To facts.json, to find the cause of a violation."""
    saved = {
        "orders": [asdict(order) for order in facts.site.orders],
        "model_requests": {
            number: dict(faults) for number, faults in facts.sandbox.model_requests.items()
        },
        "mail": [asdict(mail) for mail in facts.sandbox.mail],
        "paid": facts.sandbox.paid,
        "customers": [asdict(customer) for customer in facts.customers],
    }
    (folder / "facts.json").write_text(json.dumps(saved, indent=1))


def _wrong_hits(testbed: Testbed, site: SiteFacts) -> Iterator[str]:
    """Sessions whose response is not the cached verdict."""
    for order in [one for one in site.orders if one.cached][:MAX_HITS]:
        response = testbed.client.read(order.session)
        if response is None or response.headers.get("ETag") != site.etags[order.session]:
            yield order.session


def count_injected(facts: Facts, sandbox: SandboxClient, injector: FaultInjector) -> Counter[str]:
    """How often each fault really occurred."""
    found = Counter(
        f"webhook: {one.webhook_fault.fault}" for one in facts.customers if one.webhook_fault
    )
    # A rule that was applied is gone; one whose event was never sent is still there.
    unused = [rule["fault"] for rule in sandbox.faults() if rule["target"] == "webhook"]
    found -= Counter(f"webhook: {fault}" for fault in unused)
    found += Counter(f"refund: {REFUNDS[one.refund]}" for one in facts.customers if one.refund)
    for request in sandbox.requests():
        if request["fault"]:
            found[f"{request['target']}: {request['fault']}"] += 1
    found["log: lines delayed by a failed write"] = facts.site.log.failed_writes
    return found + injector.injected


def not_injected(testbed: Testbed, result: RunResult) -> dict[str, str]:
    """What was not injected, and why."""
    reasons = {}
    if testbed.clock is None:
        reasons["clock step"] = "no libfaketime works here: pip or apt install libfaketime"
    if testbed.database.restart is None:
        reasons["database restart"] = testbed.database.why_not_restarted
    for stage in result.not_reached:
        reasons[f"{stage.role} killed at: {stage.name}"] = "no process reached it any more"
    return reasons
