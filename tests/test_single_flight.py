"""Single-flight regeneration: fifty readers at once of one evicted page, on four web processes."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from drill.sites.live_site import LiveSite, live_site
from drill.sites.processes import running, wait_for
from drill.sites.site import free_port, responds

pytestmark = pytest.mark.django_db
READERS, PROCESSES = 50, 4
COUNTS = """
from verdicts.models import Order, Verdict
order = Order.objects.get(session_id="{session_id}")
print(order.regens, order.verdicts.filter(kind="regen").count())
"""


@contextmanager
def web_processes(site: LiveSite, count: int) -> Iterator[list[str]]:
    """The addresses of `count` more web servers of the site, on the same database and log."""
    variables = {**site.variables, "SANDBOX_URL": site.sandbox.url}
    with ExitStack() as stack:
        addresses = []
        for _ in range(count):
            host = f"127.0.0.1:{free_port()}"
            command = [sys.executable, "-m", "gunicorn", "oracle_site.wsgi", "--bind", host]
            command += ["-c", "python:oracle_site.gunicorn_conf"]
            stack.enter_context(running(command, **variables))
            addresses.append(f"http://{host}")
        for address in addresses:
            wait_for(lambda address=address: responds(address))
        yield addresses


def test_simultaneous_readers_cause_one_model_call_and_one_regeneration(tmp_path):
    with live_site(tmp_path) as site, web_processes(site, PROCESSES - 1) as others:
        session_id = site.buy("full", "What do fifty see?", "fifty@example.com")
        site.wait_for_mail("fifty@example.com")
        site.manage("evict", session_id, "--reason", "single-flight test")
        site.sandbox.fault("gemini", "slow", seconds=1, match="What do fifty see?")
        addresses = [site.url, *others]

        def read(number: int) -> httpx.Response:
            address = addresses[number % PROCESSES]
            query = {"session_id": session_id}
            return httpx.get(f"{address}/api/verdict", params=query, timeout=60, trust_env=False)

        with ThreadPoolExecutor(READERS) as readers:
            responses = list(readers.map(read, range(READERS)))
        assert set(Counter(one.status_code for one in responses)) <= {200, 202}
        # Only the verdict: a response after the comparison differs in the rest of the body.
        verdicts = {str(one.json()["verdict"]) for one in responses if one.status_code == 200}
        assert len(verdicts) == 1
        calls = [one for one in site.sandbox.requests("gemini") if "do fifty see" in one["body"]]
        assert len(calls) == 2  # the original, and one regeneration for all readers
        counted = site.manage("shell", "-v0", "-c", COUNTS.format(session_id=session_id))
        assert counted.split() == ["1", "1"]
        wait_for(lambda: site.api(session_id).json()["divergence"]["status"] == "checked")
        lines = [json.loads(line) for line in site.log.read_text().splitlines()]
        compared = [one for one in lines if one["event"] == "regen_divergence_check"]
        assert len(compared) == 1
