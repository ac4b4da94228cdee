"""What is looked at when a drill is over, before the scene is cleared."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from drill.faults.fault_injector import FaultInjector
from drill.invariants.facts import Facts, SiteFacts
from drill.load.plan import Customer
from drill.load.scene import Scene
from drill.load.storm import Course
from drill.sites.http_client import leaks_in_mail, outside_facts
from sandbox.client import SandboxClient

HITS = 100  # pages that are read once more
SCHEDULED = 90.0  # seconds
REFUNDS = {"soon": "right after the payment", "first": "heard of before the payment"}


def gather(scene: Scene, customers: list[Customer], *, at_risk: int) -> Facts:
    canary = f"canary-{customers[0].seed}-"
    _wait_for_schedule(scene)
    site = SiteFacts.read(scene.examiner.insist("facts", canary=canary))
    scene.met.leaks += leaks_in_mail(scene.sandbox, canary)
    scene.met.other_bodies += _unserved(scene, site)
    said = scene.said.read_text(errors="replace")
    return Facts(
        customers=customers,
        site=site,
        outside=outside_facts(scene.sandbox),
        met=scene.met,
        said=[word for word in ("cs_test_", "@drill.example", canary) if word in said],
        at_risk=at_risk,
    )


def _wait_for_schedule(scene: Scene) -> None:
    """A pool looks at its schedules every half minute; a short drill may be over before.

    What it has just ordered is waited for, too: that sweep is no job left behind.
    """
    until = time.monotonic() + SCHEDULED
    while time.monotonic() < until and not scene.examiner.insist("is_at_rest"):
        time.sleep(1.0)


def keep(facts: Facts, folder: Path) -> None:
    """For whoever wants to know how a violation came about."""
    told = {
        "orders": [asdict(order) for order in facts.site.orders],
        "asked": {number: dict(faults) for number, faults in facts.outside.asked.items()},
        "mail": [asdict(mail) for mail in facts.outside.mail],
        "paid": facts.outside.paid,
        "customers": [asdict(customer) for customer in facts.customers],
    }
    (folder / "facts.json").write_text(json.dumps(told, indent=1))


def _unserved(scene: Scene, site: SiteFacts) -> Iterator[str]:
    """Sessions whose cached answer is not what their readers get."""
    for order in [one for one in site.orders if one.cached][:HITS]:
        answer = scene.visits.read(order.session)
        if answer is None or answer.headers.get("ETag") != site.etags[order.session]:
            yield order.session


def injected(facts: Facts, sandbox: SandboxClient, injector: FaultInjector) -> Counter[str]:
    """How often each fault was really met."""
    found = Counter(f"webhook: {one.event.fault}" for one in facts.customers if one.event)
    # A rule that was met is gone; whoever never sent an event has left theirs behind.
    left = [rule["fault"] for rule in sandbox.faults() if rule["target"] == "webhook"]
    found -= Counter(f"webhook: {fault}" for fault in left)
    found += Counter(f"refund: {REFUNDS[one.refund]}" for one in facts.customers if one.refund)
    for request in sandbox.requests():
        if request["fault"]:
            found[f"{request['target']}: {request['fault']}"] += 1
    found["log: lines that a failed write left waiting"] = facts.site.log.left_waiting
    return found + injector.injected


def left_out(scene: Scene, course: Course) -> dict[str, str]:
    """What was not injected, and why."""
    found = {}
    if scene.clock is None:
        found["clock steps"] = (
            "LEFT OUT: no libfaketime works here (pip or apt install libfaketime)"
        )
    if scene.database.restart is None:
        found["database restart"] = f"not run: {scene.database.why_not}"
    for stage in course.missed:
        found[f"{stage.role} killed, {stage.name}"] = "nobody passed there any more"
    return found
