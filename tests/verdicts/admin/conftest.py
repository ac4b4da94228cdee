"""People of each group, and one of everything that they look at."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from verdicts.models import Case, Order
from verdicts.outside import stripe_account
from verdicts.services.checkout import start_checkout
from verdicts.services.reread import is_unpaid


@pytest.fixture
def person(db) -> Callable[..., Client]:
    """Somebody who is logged in: of a group, `superuser`, `nobody` (staff) or `customer` (none)."""

    def make(role: str, name: str = "") -> Client:
        name = name or role.lower()
        user = User.objects.create_user(name, is_staff=role != "customer")
        if role == "superuser":
            User.objects.filter(pk=user.pk).update(is_superuser=True)
        elif role not in ("nobody", "customer"):
            user.groups.add(Group.objects.get(name=role))
        client = Client()
        client.force_login(User.objects.get(pk=user.pk))
        return client

    return make


@pytest.fixture
def reviewer(person) -> Client:
    return person("Reviewer", "ada")


@pytest.fixture
def rejected(sandbox, run_jobs) -> Case:
    """Bought at the sandbox, so that it can be paid back there; and rejected."""
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
    """Emailed GREEN, regenerated RED, and the customer told."""
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    return order
