"""Users of each group, and one record of each kind."""

from collections.abc import Callable
from datetime import date

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from audit.actions import record_action
from audit.models import CrosscheckLog, DeterminismProbe, Escalation
from tests.support.addresses import records
from verdicts.clients import stripe_account
from verdicts.models import Case, Order, StripeEvent
from verdicts.payments.checkout import start_checkout
from verdicts.payments.stripe_sync import is_unpaid


@pytest.fixture
def client_for(db) -> Callable[..., Client]:
    """A logged-in client: of a group, `superuser`, `ungrouped` (staff) or `customer`."""

    def make(role: str, name: str = "") -> Client:
        name = name or role.lower()
        user = User.objects.create_user(name, is_staff=role != "customer")
        if role == "superuser":
            User.objects.filter(pk=user.pk).update(is_superuser=True)
        elif role not in ("ungrouped", "customer"):
            user.groups.add(Group.objects.get(name=role))
        client = Client()
        client.force_login(User.objects.get(pk=user.pk))
        return client

    return make


@pytest.fixture
def reviewer(client_for) -> Client:
    return client_for("Reviewer", "ada")


@pytest.fixture
def rejected(sandbox, run_jobs) -> Case:
    """A rejected order with a payment in the sandbox, so that it can be refunded there."""
    return _rejected(sandbox, run_jobs, "A perpetuum mobile?")


@pytest.fixture
def two_rejected(sandbox, run_jobs) -> list[Case]:
    return [_rejected(sandbox, run_jobs, query) for query in ("First?", "Second?")]


def _rejected(sandbox, run_jobs, query: str) -> Case:
    session = start_checkout(account=stripe_account(), tier="full", query=query)
    sandbox.pay(session.id, email="buyer@example.com", announce=False)
    is_unpaid(Order.objects.get(session_id=session.id), account=stripe_account())
    sandbox.fault("gemini", "contradictory")
    run_jobs()
    sandbox.clear_requests()
    return Case.objects.get(order__session_id=session.id)


@pytest.fixture
def diverged(missed, ask, sandbox, run_jobs) -> Order:
    """Emailed GREEN, regenerated RED, and the customer notified."""
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    return order


REJECTED_TEXT = "zyzzyva"  # in the rejected output, and nowhere else


@pytest.fixture
def url_arguments(client_for, sandbox, rejected, diverged) -> dict[str, object]:
    """One record of each kind, by the names of the URL parameters."""
    Escalation.objects.create(day=date(2026, 1, 1), checked=20, diverged=2, low=0, high=1)
    counts = ["asked", "unanswered", "rejected", "compared", "same_label", "same_text"]
    DeterminismProbe.objects.create(
        **dict.fromkeys([*counts, "distinct_texts", "prompt_tokens", "output_tokens"], 1),
        tier="full",
        model="m",
        low=0,
        high=1,
        model_versions=[],
    )
    StripeEvent.objects.create(event_id="evt_1", type="x", object='{"email": "buyer@example.com"}')
    record_action(session_id=diverged.session_id, action="evict", who="ada", reason="asked")
    CrosscheckLog.objects.filter(approved=False).update(
        evidence=f'{{"summary": "{REJECTED_TEXT}"}}'
    )
    client_for("superuser", "root")
    return {
        "session_id": diverged.session_id,
        "form": "csv",
        "case_id": rejected.pk,
        "order_id": diverged.pk,
        "content_type_id": 1,
        "object_id": 1,
        **{name: model.objects.order_by("pk").first().pk for name, model in records().items()},
    }
