"""Latency from Stripe's webhook to the sent email, without the model's latency.

A real site (web, two worker clusters) against the sandbox, which responds at once.
Orders are placed sequentially, so that none waits for another.
"""

import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report
from drill.sites.live_site import LiveSite, live_site
from oracle_site.settings import Q_CLUSTER

ORDERS = 40
LIMIT_MS = 150.0
DESCRIPTION = """
Latency from Stripe's webhook until the mail server has accepted the email, with a model that
responds at once: a real site with its workers on SQLite, sequential orders.
""".strip()


def order_latency(site: LiveSite, number: int) -> float:
    """Milliseconds from the webhook until the mail server has accepted the email."""
    email = f"bench{number}@example.com"
    order = {"tier": "full", "query": f"Idea number {number}"}
    created = site.http.post("/api/checkout", json=order).raise_for_status().json()
    paid = site.sandbox.pay(created["session_id"], email=email, announce=False)
    started = time.time()
    site.sandbox.resend(paid["event_id"])
    (message,) = site.wait_for_mail(email)
    received = datetime.fromisoformat(message["received_at"]).timestamp()
    return (received - started) * 1000


def measure(site: LiveSite) -> list[float]:
    site.sandbox.settings(latency=0)
    for number in range(4):  # warm-up: the first call imports the model's SDK
        order_latency(site, -1 - number)
    latencies = []
    with ProgressBar("webhook to email") as bar:
        for number in range(ORDERS):
            bar.update(number, ORDERS)
            latencies.append(order_latency(site, number))
    return latencies


def run() -> Section:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, live_site(Path(name)) as site:
        latencies = measure(site)
    median, p95 = statistics.median(latencies), sorted(latencies)[int(ORDERS * 0.95)]
    rows = [["median", f"{median:.0f} ms"], ["95th percentile", f"{p95:.0f} ms"]]
    rows += [["of which queue polling", f"up to 2 × {Q_CLUSTER['poll'] * 1000:.0f} ms"]]
    limit = Limit("webhook to email sent, median", median, maximum=LIMIT_MS, unit=" ms")
    return Section(
        "From payment to email", DESCRIPTION, [Table([f"{ORDERS} orders", ""], rows)], [limit]
    )


if __name__ == "__main__":
    sys.exit(print_report(run()))
