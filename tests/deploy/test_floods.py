"""Through the deployed nginx: whatever others do, the site answers within a second."""

import json
import os
import socket
import ssl
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import stripe

from drill.sites.processes import wait_for
from tests.deploy.test_deployed_site import buy
from tests.support.deployed_site import DeployedSite, deployed_site

pytestmark = [pytest.mark.site, pytest.mark.once]
WITHIN = 1.0  # seconds, which the requirement sets
ROUNDS = 5
ORDERS, SLOW_SENDERS, SILENT_READERS, IDLE = 40, 100, 300, 2_100
STRIPE_SECONDS = 10
# nginx takes header lines of 8 KB.
MAX_CONTENT_TYPE = 'a;"' + ";" * 8_000
BACKGROUND = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture(scope="module")
def site(nginx, tmp_path_factory) -> Iterator[DeployedSite]:
    with deployed_site(tmp_path_factory.mktemp("flooded")) as started:
        wait_for(lambda: started.http.get("/readyz").status_code == 200)
        yield started


@pytest.fixture(scope="module")
def session(site) -> str:
    return buy(site)


def answers_within_a_second(site: DeployedSite, session: str) -> None:
    """Landing page, webhook, health and a cached verdict, each by a connection of its own."""
    asked: dict[str, Callable[[httpx.Client], httpx.Response]] = {
        "landing page": lambda http: http.get("/"),
        "webhook": send_event,
        "health": lambda http: http.get("/healthz"),
        "cached verdict": lambda http: http.get("/api/verdict", params={"session_id": session}),
    }
    for name, ask in asked.items():
        took = []
        for _ in range(ROUNDS):
            with client(site) as http:
                began = time.monotonic()
                answer = ask(http)
                took.append(time.monotonic() - began)
            assert (name, answer.status_code) == (name, 200)
        # Run alone, every answer counts. Beside other tests on the same cores, the median does.
        slowest = statistics.median(took) if "PYTEST_XDIST_WORKER" in os.environ else max(took)
        assert slowest < WITHIN, f"{name}: {took}"


def client(site: DeployedSite) -> httpx.Client:
    return httpx.Client(base_url=site.nginx.url, verify=site.nginx.tls, trust_env=False, timeout=60)


def send_event(http: httpx.Client) -> httpx.Response:
    """Signed as Stripe signs, of a type that is stored and not acted on."""
    event = {"id": f"evt_{time.monotonic_ns()}", "object": "event", "type": "product.created"}
    body = json.dumps({**event, "data": {"object": {"id": "prod_1", "object": "product"}}})
    at = int(time.time())
    signature = stripe.WebhookSignature._compute_signature(f"{at}.{body}", "whsec_sandbox")  # noqa: SLF001 - as the SDK's own tests do
    headers = {"Stripe-Signature": f"t={at},v1={signature}", "Content-Type": "application/json"}
    return http.post("/api/webhook", content=body, headers=headers)


@contextmanager
def connections(site: DeployedSite, count: int, **options: int) -> Iterator[list[ssl.SSLSocket]]:
    host, port = site.nginx.url.removeprefix("https://").split(":")
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            plain = socket.socket()
            for name, value in options.items():
                plain.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
            plain.settimeout(30)
            plain.connect((host, int(port)))
            secure = site.nginx.tls.wrap_socket(plain, server_hostname=host)
            opened.append(stack.enter_context(secure))
        yield opened


def test_beside_orders_that_wait_for_stripe(site, session):
    site.sandbox.fault("stripe", "slow", seconds=STRIPE_SECONDS, times=None)
    order = {"tier": "quick", "query": "A ferry?"}

    def place(_: int) -> httpx.Response:
        with client(site) as http:
            return http.post("/api/checkout", json=order)

    try:
        with ThreadPoolExecutor(ORDERS) as buyers:
            placed = [buyers.submit(place, number) for number in range(ORDERS)]
            # Both instances have as many in progress as they take; the others are refused at once.
            wait_for(lambda: len([one for one in placed if one.done()]) == ORDERS - 16)
            answers_within_a_second(site, session)
            assert len([one for one in placed if one.done()]) == ORDERS - 16
            answers = [one.result() for one in placed]
    finally:
        site.sandbox.clear_faults()
    # Who found a place has an order, unless Stripe took longer than we wait.
    assert {one.status_code for one in answers} <= {201, 503}
    refused = [one for one in answers if one.status_code == 503]
    assert all(int(one.headers["Retry-After"]) > 0 for one in refused)
    with client(site) as http:
        assert http.post("/api/checkout", json=order).status_code == 201


def test_beside_senders_of_one_byte_a_second(site, session):
    begun = (
        b"POST /api/checkout HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000\r\n\r\n{"
    )
    over = threading.Event()

    def drip(senders: list[ssl.SSLSocket]) -> None:
        while not over.wait(1.0):
            for one in senders:
                one.sendall(b" ")

    with connections(site, SLOW_SENDERS) as senders:
        for one in senders:
            one.sendall(begun)
        dripping = threading.Thread(target=drip, args=[senders])
        dripping.start()
        time.sleep(2)
        try:
            answers_within_a_second(site, session)
        finally:
            over.set()
            dripping.join()


def test_beside_clients_that_never_read(site, session):
    with connections(site, SILENT_READERS, SO_RCVBUF=4096) as readers:
        for one in readers:
            one.sendall(BACKGROUND * 20)
        time.sleep(2)
        answers_within_a_second(site, session)


def test_beside_idle_connections(site, session):
    with connections(site, IDLE):
        answers_within_a_second(site, session)


def test_beside_the_longest_content_type_that_nginx_lets_through(site, session):
    headers = {"Content-Type": MAX_CONTENT_TYPE}
    over = threading.Event()
    met: list[int] = []

    def send() -> None:
        with client(site) as http:
            while not over.is_set():
                met.append(http.post("/api/webhook", content=b"{}", headers=headers).status_code)

    with ThreadPoolExecutor(8) as senders:
        for _ in range(8):
            senders.submit(send)
        try:
            wait_for(lambda: len(met) >= 8)
            answers_within_a_second(site, session)
        finally:
            over.set()
    assert set(met) == {400}  # Django's refusal: nginx has let it through


def test_headers_with_underscores_reach_nothing(site):
    """At nginx and, for a request that does not come through it, at the web instance itself."""
    forged = {"X_Forwarded_Proto": "http", "X_Forwarded_For": "203.0.113.9"}
    transport = httpx.HTTPTransport(uds=str(site.host.web_socket(1)))
    with httpx.Client(transport=transport, timeout=30) as direct:
        usual = {"Host": "localhost", "X-Forwarded-Proto": "https"}
        answer = direct.get("http://localhost/", headers={**usual, **forged})
        assert answer.status_code == 200  # and no redirect to HTTPS
    assert site.http.get("/", headers=forged).status_code == 200
