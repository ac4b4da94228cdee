"""Through the deployed nginx: the site responds within a second under each kind of flood."""

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

pytestmark = [pytest.mark.site, pytest.mark.once, pytest.mark.alone]
MAX_SECONDS = 1.0  # a requirement
ROUNDS = 5
ORDERS, SLOW_SENDERS, SILENT_READERS, IDLE = 40, 100, 300, 2_100
STRIPE_SECONDS = 10
# nginx accepts header lines of 8 KB.
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


def assert_responses_within_a_second(site: DeployedSite, session: str) -> None:
    """Landing page, webhook, health and a cached verdict, each on a new connection."""
    requests: dict[str, Callable[[httpx.Client], httpx.Response]] = {
        "landing page": lambda http: http.get("/"),
        "webhook": send_event,
        "health": lambda http: http.get("/healthz"),
        "cached verdict": lambda http: http.get("/api/verdict", params={"session_id": session}),
    }
    for name, send in requests.items():
        took = []
        for _ in range(ROUNDS):
            with client(site) as http:
                began = time.monotonic()
                response = send(http)
                took.append(time.monotonic() - began)
            assert (name, response.status_code) == (name, 200)
        # `make prove` counts the slowest response, on a machine that does nothing else.
        judged = max if os.environ.get("EVERY_RESPONSE_COUNTS") else statistics.median
        assert judged(took) < MAX_SECONDS, f"{name}: {took}"


def client(site: DeployedSite) -> httpx.Client:
    return httpx.Client(base_url=site.nginx.url, verify=site.nginx.tls, trust_env=False, timeout=60)


def send_event(http: httpx.Client) -> httpx.Response:
    """A signed event of a type that is stored without being handled."""
    event = {"id": f"evt_{time.monotonic_ns()}", "object": "event", "type": "product.created"}
    body = json.dumps({**event, "data": {"object": {"id": "prod_1", "object": "product"}}})
    at = int(time.time())
    signature = stripe.WebhookSignature._compute_signature(f"{at}.{body}", "whsec_sandbox")  # noqa: SLF001 - like the SDK's own tests
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


def test_during_orders_that_wait_for_stripe(site, session):
    site.sandbox.fault("stripe", "slow", seconds=STRIPE_SECONDS, times=None)
    order = {"tier": "quick", "query": "A ferry?"}

    def place(_: int) -> httpx.Response:
        with client(site) as http:
            return http.post("/api/checkout", json=order)

    try:
        with ThreadPoolExecutor(ORDERS) as buyers:
            placed = [buyers.submit(place, number) for number in range(ORDERS)]
            # Both instances have reached their limit of checkouts; the others are refused at once.
            wait_for(lambda: len([one for one in placed if one.done()]) == ORDERS - 16)
            assert_responses_within_a_second(site, session)
            assert len([one for one in placed if one.done()]) == ORDERS - 16
            answers = [one.result() for one in placed]
    finally:
        site.sandbox.clear_faults()
    # Those within the limit have an order, unless Stripe timed out.
    assert {one.status_code for one in answers} <= {201, 503}
    refused = [one for one in answers if one.status_code == 503]
    assert all(int(one.headers["Retry-After"]) > 0 for one in refused)
    with client(site) as http:
        assert http.post("/api/checkout", json=order).status_code == 201


def test_during_clients_that_send_one_byte_per_second(site, session):
    start = (
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
            one.sendall(start)
        dripping = threading.Thread(target=drip, args=[senders])
        dripping.start()
        time.sleep(2)
        try:
            assert_responses_within_a_second(site, session)
        finally:
            over.set()
            dripping.join()


def test_during_clients_that_never_read(site, session):
    with connections(site, SILENT_READERS, SO_RCVBUF=4096) as readers:
        for one in readers:
            one.sendall(BACKGROUND * 20)
        time.sleep(2)
        assert_responses_within_a_second(site, session)


def test_during_idle_connections(site, session):
    with connections(site, IDLE):
        assert_responses_within_a_second(site, session)


def test_during_requests_with_the_longest_content_type(site, session):
    headers = {"Content-Type": MAX_CONTENT_TYPE}
    over = threading.Event()
    statuses: list[int] = []

    def send() -> None:
        with client(site) as http:
            while not over.is_set():
                statuses.append(
                    http.post("/api/webhook", content=b"{}", headers=headers).status_code
                )

    with ThreadPoolExecutor(8) as senders:
        for _ in range(8):
            senders.submit(send)
        try:
            wait_for(lambda: len(statuses) >= 8)
            assert_responses_within_a_second(site, session)
        finally:
            over.set()
    assert set(statuses) == {400}  # from the web instance: nginx lets it through


def test_headers_with_underscores_are_ignored(site):
    """By nginx, and by the web instance for requests that bypass nginx."""
    forged = {"X_Forwarded_Proto": "http", "X_Forwarded_For": "203.0.113.9"}
    transport = httpx.HTTPTransport(uds=str(site.host.web_socket(1)))
    with httpx.Client(transport=transport, timeout=30) as direct:
        usual = {"Host": "localhost", "X-Forwarded-Proto": "https"}
        response = direct.get("http://localhost/", headers={**usual, **forged})
        assert response.status_code == 200  # and no redirect to HTTPS
    assert site.http.get("/", headers=forged).status_code == 200
