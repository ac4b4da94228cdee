import pytest
from django.contrib.auth.models import Group

pytestmark = pytest.mark.django_db


def permissions(name: str) -> set[str]:
    return set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))


def test_migrations_create_three_groups_with_their_permissions():
    operator, reviewer, nous = permissions("Operator"), permissions("Reviewer"), permissions("NOUS")
    assert all(codename.startswith("view_") for codename in operator)
    assert "view_determinismprobe" in operator
    assert not operator & {"view_customer", "view_evidence"}
    assert reviewer - operator == {
        "change_case",
        "view_customer",
        "view_evidence",
        "refund_order",
    }
    assert nous - reviewer == {"authorize_generation"}


def test_no_group_may_add_or_delete_anything():
    for name in ("Operator", "Reviewer", "NOUS"):
        assert not {c for c in permissions(name) if c.startswith(("add_", "delete_"))}
