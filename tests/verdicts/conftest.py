"""The sandbox over HTTP, queue jobs run in the test's process, and orders in various states."""

import pydoc
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.utils import timezone
from django_q.models import OrmQ

from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.support.pauses import let_pass
from tests.support.stripe_objects import session_object
from verdicts.clients import stripe_account
from verdicts.core.sessions import read_session
from verdicts.models import CachedVerdict, Order, Status
from verdicts.payments.accept_payment import record_session
from verdicts.payments.checkout import start_checkout
from verdicts.payments.stripe_sync import is_unpaid
from verdicts.smoke_test.marking import mark_as_smoke


@pytest.fixture(scope="session")
def sandbox_server() -> Iterator[SandboxClient]:
    with running_sandbox() as client:
        yield client


@pytest.fixture
def sandbox(sandbox_server, settings) -> Iterator[SandboxClient]:
    """A reset sandbox, which the site uses."""
    for name in ("STRIPE_URL", "GEMINI_URL", "GRAPH_URL", "GRAPH_LOGIN_URL", "SANDBOX_URL"):
        setattr(settings, name, sandbox_server.url)
    settings.EMAIL_BACKEND = "verdicts.mail.graph.GraphBackend"
    sandbox_server.reset()
    yield sandbox_server
    sandbox_server.clear_faults()


@pytest.fixture
def run_jobs() -> Callable[..., list[str]]:
    def run(*, now: bool = False) -> list[str]:
        """Run all due jobs, and those that they enqueue; `now`: delayed ones, too."""
        results = []
        while True:
            rows = OrmQ.objects.order_by("lock", "pk")
            row = (rows if now else rows.filter(lock__lte=timezone.now())).first()
            if row is None:
                return results
            let_pass(row.lock - timezone.now())
            task = row.task
            row.delete()
            results.append(pydoc.locate(task["func"])(*task["args"]))

    return run


@pytest.fixture
def paid_order(db) -> Callable[..., Order]:
    """A paid order, created the way a Stripe event creates it."""
    count = 0

    def make(tier: str = "full", query: str = "Should I open a bakery?", **changes) -> Order:
        nonlocal count
        count += 1
        cents = {"quick": 200, "full": 500, "strategy": 1500}[tier]
        raw = session_object(
            id=f"cs_test_paidOrder{count:04}",
            payment_intent=f"pi_{count}",
            amount_subtotal=cents,
            metadata={"tier": tier, "query_0": query},
            **changes,
        )
        record_session(read_session(raw))
        return Order.objects.get(session_id=raw["id"])

    return make


@pytest.fixture
def bought(sandbox, db) -> Callable[..., Order]:
    """An order paid at the sandbox, by a customer or a smoke test."""

    def make(tier: str = "full", query: str = "A ferry?", *, smoke: bool = False) -> Order:
        session = start_checkout(account=stripe_account(), tier=tier, query=query)
        if smoke:
            assert mark_as_smoke(session.id, query=query, who="ada")
        sandbox.pay(session.id, email="buyer@example.com", announce=False)
        order = Order.objects.get(session_id=session.id)
        assert is_unpaid(order, account=stripe_account()) is False
        return order

    return make


@pytest.fixture
def delivered(sandbox, paid_order, run_jobs) -> Callable[..., Order]:
    """An order whose verdict was judged, stored, cached and emailed."""

    def make(tier: str = "full", label: str = "", **changes) -> Order:
        if label:
            sandbox.fault("gemini", "verdict", label=label)
        order = paid_order(tier, **changes)
        run_jobs()
        order.refresh_from_db()
        assert order.status == Status.DELIVERED
        sandbox.clear_requests()
        return order

    return make


@pytest.fixture
def missed(delivered) -> Callable[..., Order]:
    """A delivered order that is no longer cached."""

    def make(tier: str = "full", label: str = "", **changes) -> Order:
        order = delivered(tier, label, **changes)
        CachedVerdict.objects.filter(session_id=order.session_id).delete()
        return order

    return make


@pytest.fixture
def elsewhere(sandbox) -> Callable[..., str]:
    """A Stripe session created outside this site, `age` seconds ago."""

    def make(age: float, **changes) -> str:
        fields = {
            "amount_subtotal": 500,
            "amount_total": 500,
            "currency": "cad",
            "created": int(time.time() - age),
            "metadata": {"tier": "full", "query_0": "A bakery, ", "query_1": "really?"},
            "customer_details": {"email": "buyer@example.com"},
            "payment_status": "paid",
            "status": "complete",
        }
        return sandbox.create_session(**{**fields, **changes})["id"]

    return make


@pytest.fixture
def open_for_long(db) -> Iterator[None]:
    """Pretends that the site was installed a year ago: it must fulfil payments since then."""
    migrations = MigrationRecorder.Migration.objects.filter(app="verdicts")
    applied = {one.pk: one.applied for one in migrations}
    migrations.update(applied=timezone.now() - timedelta(days=365))
    yield
    for key, at in applied.items():
        migrations.filter(pk=key).update(applied=at)


@pytest.fixture
def ask(client) -> Callable[..., HttpResponse]:
    """`GET /api/verdict`, as a client of the result API."""

    def get(session_id: str, **headers: str) -> HttpResponse:
        return client.get("/api/verdict", {"session_id": session_id}, headers=headers)

    return get
