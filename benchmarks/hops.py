"""Counts how often one order crosses module boundaries, from checkout to the divergence notice.

`python -m benchmarks.hops` processes one order in this process: Django's test client,
the queued jobs called directly, a temporary SQLite database, and the sandbox over HTTP.
A switch is a call into a product module whose nearest caller on the stack within the
product is another module (or none). Calls within a module, generated code such as a
dataclass's `__init__`, imports, Django, the sandbox and other threads do not count.
An earlier order warms up process-wide caches.
"""

import argparse
import json
import os
import pydoc
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import django
from django.core.management import call_command
from django.utils import timezone

from benchmarks.dataset.config import Dataset, production_env
from benchmarks.report import Table, text_table
from benchmarks.servers import ROOT
from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from sandbox.settings import WEBHOOK_SECRET
from sandbox.stripe.events import signature

PRODUCT: Final = ("audit", "oracle_site", "verdicts")
STAGES: Final = (
    "checkout",
    "webhook",
    "generate",
    "deliver",
    "read/regenerate",
    "compare",
    "notify",
)
OUTSIDE: Final = "(outside)"  # the caller if no product module is on the stack
NOT_CALLS: Final = ("<module>", "<genexpr>")


@dataclass
class Hops:
    """Counts of one stage: calls per module, and switches per (caller, callee)."""

    entered: Counter[str] = field(default_factory=Counter)
    switches: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __add__(self, other: "Hops") -> "Hops":
        return Hops(self.entered + other.entered, self.switches + other.switches)


@cache
def product_module(filename: str) -> str:
    """The module name of a source file; blank if it is not part of the product."""
    path = Path(filename)
    if not path.is_relative_to(ROOT):  # generated code has no file
        return ""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__") if parts[0] in PRODUCT else ""


@contextmanager
def counting(hops: Hops) -> Iterator[None]:
    """Count the calls of this thread while the block runs."""

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        module = product_module(code.co_filename) if event == "call" else ""
        if module and code.co_name not in NOT_CALLS and _is_start(frame):
            hops.entered[module] += 1
            caller = _nearest_caller(frame.f_back)
            if caller != module:
                hops.switches[caller, module] += 1

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def _is_start(frame: FrameType) -> bool:
    """False if a generator or coroutine is resumed, which the profiler also reports as a call."""
    return frame.f_code.co_code[frame.f_lasti + 1] == 0  # the argument of RESUME


def _nearest_caller(frame: FrameType | None) -> str:
    while frame is not None:
        if module := product_module(frame.f_code.co_filename):
            return module
        frame = frame.f_back
    return OUTSIDE


def one_order(sandbox: SandboxClient, query: str) -> dict[str, Hops]:
    """Buy, deliver, evict, regenerate with another label, compare and notify."""
    from django.test import Client  # noqa: PLC0415 - Django is set up by now

    from verdicts.models import CachedVerdict  # noqa: PLC0415 - likewise

    hops = {stage: Hops() for stage in STAGES}
    client = Client(headers={"host": "127.0.0.1"})

    sandbox.fault("gemini", "verdict", label="GREEN", match=query)
    with counting(hops["checkout"]):
        response = client.post(
            "/api/checkout", {"tier": "full", "query": query}, content_type="application/json"
        )
    session_id = response.json()["session_id"]

    paid = sandbox.pay(session_id, email="buyer@example.com", announce=False)
    event = next(event for event in sandbox.events() if event["id"] == paid["event_id"])
    body = json.dumps(event).encode()
    headers = {"stripe-signature": signature(body, WEBHOOK_SECRET, int(time.time()))}
    with counting(hops["webhook"]):
        response = client.post(
            "/api/webhook", body, content_type="application/json", headers=headers
        )
    assert response.status_code == 200, response.content

    run_jobs("fulfil_order", hops["generate"])
    run_jobs("deliver", hops["deliver"])

    CachedVerdict.objects.filter(session_id=session_id).delete()
    sandbox.fault("gemini", "verdict", label="RED", match=query)
    with counting(hops["read/regenerate"]):
        response = client.get("/api/verdict", {"session_id": session_id})
    assert response.json()["regen"], response.content

    run_jobs("compare", hops["compare"])
    run_jobs("deliver", hops["notify"])
    return hops


def run_jobs(name: str, hops: Hops) -> None:
    """Run the queued jobs of that name; asserts that no others are due."""
    from django_q.models import OrmQ  # noqa: PLC0415 - Django is set up by now

    due = list(OrmQ.objects.filter(lock__lte=timezone.now()).order_by("pk"))
    assert due, f"no {name} is queued"
    for row in due:
        task = row.task
        assert task["func"] == f"verdicts.tasks.{name}", task["func"]
        row.delete()
        job: Any = pydoc.locate(task["func"])
        with counting(hops):
            job(*task["args"])


def measure() -> dict[str, Hops]:
    """Hops per stage. Sets Django up, so it needs a process of its own."""
    folder = tempfile.TemporaryDirectory(prefix="oracle-hops-", ignore_cleanup_errors=True)
    with folder as name, running_sandbox() as sandbox:
        database = f"sqlite:///{name}/oracle.sqlite3"
        os.environ |= production_env(Dataset(0, database, f"{name}/oracle_log.jsonl", sandbox.url))
        django.setup()
        warnings.filterwarnings("ignore", "No directory at")  # static files are not collected
        call_command("migrate", verbosity=0)
        one_order(sandbox, "The first idea")
        return one_order(sandbox, "The second idea")


def stage_table(hops: dict[str, Hops]) -> Table:
    total = sum(hops.values(), Hops())
    rows = [
        [stage, str(len(one.entered)), str(one.switches.total())]
        for stage, one in [*hops.items(), ("total", total)]
    ]
    return Table(["stage", "modules entered", "switches"], rows)


def pair_table(hops: dict[str, Hops], count: int) -> Table:
    total = sum(hops.values(), Hops())
    rows = [
        [f"{caller} -> {callee}", str(switches)]
        for (caller, callee), switches in total.switches.most_common(count)
    ]
    return Table(["caller -> callee", "switches"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hops", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--pairs",
        type=int,
        nargs="?",
        const=20,
        default=0,
        metavar="N",
        help="also list the N pairs of modules with the most switches (20)",
    )
    options = parser.parse_args()
    hops = measure()
    print(text_table(stage_table(hops)))
    if options.pairs:
        print(f"\n{text_table(pair_table(hops, options.pairs))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
