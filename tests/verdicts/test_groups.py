import pytest
from django.contrib.auth.models import Group

pytestmark = pytest.mark.django_db


def allowed(name: str) -> set[str]:
    return set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))


def test_three_groups_come_with_the_site():
    operator, reviewer, nous = allowed("Operator"), allowed("Reviewer"), allowed("NOUS")
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


def test_no_group_adds_or_deletes_anything():
    for name in ("Operator", "Reviewer", "NOUS"):
        assert not {c for c in allowed(name) if c.startswith(("add_", "delete_"))}
