"""Fifty readers at once on one session that the cache has lost, before four web processes."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from drill.sites.live_site import LiveSite, live_site
from drill.sites.processes import running, wait_for
from drill.sites.site import free_port

pytestmark = pytest.mark.django_db
READERS, PROCESSES = 50, 4
COUNTS = """
from verdicts.models import Order, Verdict
order = Order.objects.get(session_id="{session_id}")
print(order.regens, order.verdicts.filter(kind="regen").count())
"""


@contextmanager
def web_processes(site: LiveSite, count: int) -> Iterator[list[str]]:
    """So many more of the site's web servers, on the same database and log."""
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
            wait_for(lambda address=address: answers(address))
        yield addresses


def answers(address: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(address, trust_env=False).status_code == 200
    return False


def test_one_model_call_one_regeneration_and_no_error(tmp_path):
    with live_site(tmp_path) as site, web_processes(site, PROCESSES - 1) as others:
        session_id = site.buy("full", "What do fifty see?", "fifty@example.com")
        site.wait_for_mail("fifty@example.com")
        site.manage("evict", session_id, "--reason", "a crowd")
        site.sandbox.fault("gemini", "slow", seconds=1, match="What do fifty see?")
        addresses = [site.url, *others]

        def read(number: int) -> httpx.Response:
            address = addresses[number % PROCESSES]
            query = {"session_id": session_id}
            return httpx.get(f"{address}/api/verdict", params=query, timeout=60, trust_env=False)

        with ThreadPoolExecutor(READERS) as crowd:
            seen = list(crowd.map(read, range(READERS)))
        assert set(Counter(one.status_code for one in seen)) <= {200, 202}
        # Some may have come after the comparison, which changes the rest of the body.
        assert len({str(one.json()["verdict"]) for one in seen if one.status_code == 200}) == 1
        asked = [one for one in site.sandbox.requests("gemini") if "do fifty see" in one["body"]]
        assert len(asked) == 2  # the original, and one for all of them
        counted = site.manage("shell", "-v0", "-c", COUNTS.format(session_id=session_id))
        assert counted.split() == ["1", "1"]
        wait_for(lambda: site.api(session_id).json()["divergence"]["status"] == "checked")
        lines = [json.loads(line) for line in site.log.read_text().splitlines()]
        compared = [one for one in lines if one["event"] == "regen_divergence_check"]
        assert len(compared) == 1
