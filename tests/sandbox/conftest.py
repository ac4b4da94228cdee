"""A running sandbox for each test, and the real client libraries pointed at it."""

from collections.abc import Iterator

import httpx
import pytest
import stripe
from google import genai
from google.genai import types

from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.support.webhook_receiver import Receiver, running_receiver

STRIPE_KEY = "sk_test_sandbox"
# No proxies, and no CA certificates: loading them takes longer than most tests.
PLAIN = {"trust_env": False, "verify": False}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A webhook endpoint in place of the product's."""
    with running_receiver() as running:
        yield running


@pytest.fixture
def sandbox(receiver: Receiver) -> Iterator[SandboxClient]:
    with running_sandbox(webhook_url=receiver.url) as running:
        yield running


@pytest.fixture
def gemini(sandbox: SandboxClient) -> Iterator[genai.Client]:
    options = types.HttpOptions(
        base_url=sandbox.url,
        api_version="v1beta",
        timeout=1_000,
        client_args=PLAIN,
    )
    client = genai.Client(api_key="sandbox", http_options=options)
    yield client
    client.close()


@pytest.fixture
def shop(sandbox: SandboxClient) -> Iterator[stripe.StripeClient]:
    http = stripe.RequestsClient(timeout=1)
    yield stripe.StripeClient(STRIPE_KEY, base_addresses={"api": sandbox.url}, http_client=http)
    http.close()


@pytest.fixture
def web(sandbox: SandboxClient) -> Iterator[httpx.Client]:
    """A plain HTTP client, in place of a browser."""
    with httpx.Client(base_url=sandbox.url, timeout=5, **PLAIN) as client:
        yield client
