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

from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell
from drill.sites.live_site import LiveSite, live_site
from oracle_site.settings import Q_CLUSTER

ORDERS = 40
LIMIT_MS = 150.0
ABOUT = """
Our own time from Stripe's webhook until the mail server has the email, the model answering at once:
a real site with its workers on SQLite, orders one after another.
""".strip()


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
    with Progress("webhook to email") as progress:
        for number in range(ORDERS):
            progress.share(number, ORDERS)
            took.append(one(site, number))
    return took


def run() -> Section:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, live_site(Path(name)) as site:
        took = measure(site)
    median, slowest = statistics.median(took), sorted(took)[int(ORDERS * 0.95)]
    rows = [["median", f"{median:.0f} ms"], ["95th percentile", f"{slowest:.0f} ms"]]
    rows += [["of it, the queue's poll", f"up to 2 × {Q_CLUSTER['poll'] * 1000:.0f} ms"]]
    limit = Limit("webhook to email sent, median", median, most=LIMIT_MS, unit=" ms")
    return Section("From payment to email", ABOUT, [Table([f"{ORDERS} orders", ""], rows)], [limit])


if __name__ == "__main__":
    sys.exit(tell(run()))
