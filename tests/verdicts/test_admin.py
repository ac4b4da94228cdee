import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from audit.models import CrosscheckLog
from verdicts.models import Order
from verdicts.tasks import fulfil_order

pytestmark = pytest.mark.django_db

MODELS = [
    "verdicts_order",
    "verdicts_verdict",
    "verdicts_delivery",
    "verdicts_stripeevent",
    "audit_modelcall",
    "audit_crosschecklog",
    "audit_divergenceevent",
    "audit_escalation",
    "audit_action",
]


@pytest.mark.parametrize("model", MODELS)
def test_records_are_listed_and_cannot_be_added(admin_client, model):
    assert admin_client.get(reverse(f"admin:{model}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"admin:{model}_add")).status_code == 403


def test_not_even_a_superuser_changes_or_deletes_an_order(admin_client, paid_order):
    order = paid_order()
    change = reverse("admin:verdicts_order_change", args=[order.pk])
    assert admin_client.get(change).status_code == 200
    assert admin_client.post(change, {"status": "delivered"}).status_code == 403
    delete = reverse("admin:verdicts_order_delete", args=[order.pk])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    assert Order.objects.get().status == "paid"


def test_rejected_text_is_for_those_who_may_see_it(client, sandbox, paid_order):
    sandbox.fault("gemini", "malformed")
    fulfil_order(paid_order().pk)
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_crosschecklog"))
    client.force_login(user)
    check = CrosscheckLog.objects.get()
    change = reverse("admin:audit_crosschecklog_change", args=[check.pk])
    assert "Evidence:" not in client.get(change).content.decode()
    user.user_permissions.add(Permission.objects.get(codename="view_evidence"))
    assert "Evidence:" in client.get(change).content.decode()


@pytest.mark.parametrize("model", ["schedule", "ormq", "success", "failure"])
def test_the_queues_own_forms_are_not_to_be_had(admin_client, model):
    assert admin_client.get(f"/admin/django_q/{model}/").status_code == 404
