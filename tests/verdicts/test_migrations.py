"""What an upgrade does to a house that has run before."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def migrate():
    """Back to a migration, or forward to the last one."""

    def to(*targets: tuple[str, str]):
        executor = MigrationExecutor(connection)
        wanted = list(targets) or executor.loader.graph.leaf_nodes()
        return executor.migrate(wanted).apps

    yield to
    to()


def test_whatever_needed_a_person_before_has_a_case_after(migrate):
    old = migrate(("verdicts", "0003_regeneration"))
    orders = old.get_model("verdicts", "Order").objects
    made = {
        status: orders.create(
            session_id=f"cs_test_before{status}", status=status, tier="full", price_cents=500
        )
        for status in ("rejected", "failed", "held", "delivered")
    }
    old.get_model("verdicts", "Delivery").objects.create(
        order=made["delivered"], kind="divergence", state="uncertain", message_id="<x@y>"
    )
    cases = migrate().get_model("verdicts", "Case").objects
    assert set(cases.values_list("kind", "order__status")) == {
        ("rejected", "rejected"),
        ("failed", "failed"),
        ("held", "held"),
        ("email", "delivered"),
    }
