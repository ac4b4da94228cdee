"""Our own time from Stripe's webhook to the email sent, the model's time taken off.

A real site (web, two worker clusters) against the sandbox, which answers at
once; orders one after another, so that none waits for another.
"""

import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.judgement import progress, within_limit
from oracle_site.settings import Q_CLUSTER
from tests.live_site import LiveSite, live_site

ORDERS = 40
LIMIT_MS = 150.0


def one(site: LiveSite, number: int) -> float:
    """Milliseconds from the webhook's arrival until the mail server has the email."""
    email = f"bench{number}@example.com"
    order = {"tier": "full", "query": f"Idea number {number}"}
    made = site.http.post("/api/checkout", json=order).raise_for_status().json()
    paid = site.sandbox.pay(made["session_id"], email=email, announce=False)
    started = time.time()
    site.sandbox.resend(paid["event_id"])
    (message,) = site.wait_for_mail(email)
    received = datetime.fromisoformat(message["received_at"]).timestamp()
    return (received - started) * 1000


def measure(site: LiveSite) -> list[float]:
    site.sandbox.settings(latency=0)
    for warming in range(4):  # the first call imports the model's library
        one(site, -1 - warming)
    took = []
    for number in range(ORDERS):
        progress(f"order {number + 1} of {ORDERS}")
        took.append(one(site, number))
    progress("")
    return took


def main() -> int:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, live_site(Path(name)) as site:
        took = measure(site)
    median, slowest = statistics.median(took), sorted(took)[int(ORDERS * 0.95)]
    print(f"Webhook to email sent, {ORDERS} orders, SQLite, model answering at once:\n")
    print(f"  median {median:.0f} ms, 95th percentile {slowest:.0f} ms")
    poll = Q_CLUSTER["poll"] * 1000
    print(f"  of which up to twice the queue's poll interval of {poll:.0f} ms\n")
    return not within_limit(f"median / {LIMIT_MS:.0f} ms", median / LIMIT_MS, 1.0)


if __name__ == "__main__":
    sys.exit(main())
