"""Records are read-only for everyone, and hidden fields stay hidden."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from audit.models import CrosscheckLog, DivergenceEvent, LogEntry
from verdicts.models import Case, Delivery, Order, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MODELS = [
    "verdicts_order",
    "verdicts_verdict",
    "verdicts_delivery",
    "verdicts_stripeevent",
    "verdicts_case",
    "audit_modelcall",
    "audit_crosschecklog",
    "audit_divergenceevent",
    "audit_escalation",
    "audit_action",
    "audit_logentry",
]
SECRETS = ("buyer@example.com", "A perpetuum mobile?")


def pages(order: Order) -> list[str]:
    """The detail pages of one record of each kind."""
    listed = {
        "verdicts_order": [order],
        "verdicts_case": Case.objects.all(),
        "verdicts_verdict": Verdict.objects.all(),
        "verdicts_delivery": Delivery.objects.all(),
        "audit_crosschecklog": CrosscheckLog.objects.all(),
        "audit_divergenceevent": DivergenceEvent.objects.all(),
        "audit_logentry": LogEntry.objects.all(),
    }
    return [
        reverse(f"admin:{model}_change", args=[one.pk])
        for model, records in listed.items()
        for one in records
    ]


@pytest.mark.parametrize("model", MODELS)
def test_records_are_listed_and_cannot_be_added(client_for, model):
    client = client_for("superuser")
    assert client.get(reverse(f"admin:{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:{model}_add")).status_code == 403
    assert client.post(reverse(f"admin:{model}_add"), {}).status_code == 403


def test_a_superuser_cannot_change_or_delete_records(client_for, rejected, diverged):
    client = client_for("superuser")
    before = [list(model.objects.values()) for model in (Order, Case, CrosscheckLog, Verdict)]
    for page in pages(rejected.order):
        assert client.get(page).status_code == 200, page
        assert client.post(page, {"status": "delivered", "label": "RED"}).status_code == 403, page
        delete = page.replace("/change/", "/delete/")
        assert client.get(delete).status_code == 403
        assert client.post(delete, {"post": "yes"}).status_code == 403
    assert before == [
        list(model.objects.values()) for model in (Order, Case, CrosscheckLog, Verdict)
    ]


@pytest.mark.parametrize("model", MODELS)
def test_bulk_deletion_is_disabled(client_for, rejected, diverged, model):
    changelist = reverse(f"admin:{model}_changelist")
    client = client_for("superuser")
    data = {"action": "delete_selected", "_selected_action": ["1"], "post": "yes"}
    client.post(changelist, data)
    assert "delete_selected" not in client.get(changelist).content.decode()
    assert Order.objects.count() == 2
    assert Case.objects.count() == 1
    assert DivergenceEvent.objects.count() == 1


@pytest.mark.parametrize("role", ["anonymous", "customer", "ungrouped"])
@pytest.mark.parametrize("model", MODELS)
def test_lists_and_exports_need_permission(client_for, client, role, model):
    visitor = client if role == "anonymous" else client_for(role)
    for address in ("changelist", "export"):
        args = ["csv"] if address == "export" else []
        answer = visitor.get(reverse(f"admin:{model}_{address}", args=args))
        assert answer.status_code == (403 if role == "ungrouped" else 302)


@pytest.mark.parametrize("role", ["Operator", "Reviewer", "NOUS", "superuser"])
@pytest.mark.parametrize("model", MODELS)
def test_every_group_can_view_every_list(client_for, rejected, role, model):
    client = client_for(role)
    assert client.get(reverse(f"admin:{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:{model}_export", args=["csv"])).status_code == 200


@pytest.mark.parametrize("role", ["Operator", "Reviewer"])
def test_customers_text_needs_its_permission(client_for, rejected, diverged, role):
    client = client_for(role)
    order = rejected.order
    summary = Verdict.objects.filter(kind="original").get().payload["summary"]
    shown = "".join(
        client.get(page).content.decode()
        for page in [*pages(order), *(reverse(f"admin:{m}_changelist") for m in MODELS)]
    )
    shown += "".join(
        b"".join(client.get(reverse(f"admin:{m}_export", args=["jsonl"]))).decode() for m in MODELS
    )
    secrets = (*SECRETS, order.session_id, diverged.session_id, summary[:20])
    found = {secret for secret in secrets if secret in shown}
    assert found == (set() if role == "Operator" else set(secrets))


def test_rejected_text_needs_its_permission(client, rejected):
    user = User.objects.create_user("reader", is_staff=True)
    for name in ("view_crosschecklog", "view_case", "view_customer"):
        user.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(user)
    check = rejected.crosscheck
    detail_pages = [
        reverse("admin:audit_crosschecklog_change", args=[check.pk]),
        reverse("admin:verdicts_case_change", args=[rejected.pk]),
    ]
    export = reverse("admin:audit_crosschecklog_export", args=["csv"])
    for url in detail_pages:
        page = client.get(url).content.decode()
        assert "Hidden: you do not have the permission to read rejected outputs" in page
        assert "c-lines" not in page
    assert "evidence" not in b"".join(client.get(export)).decode().splitlines()[0].split(",")
    user.user_permissions.add(Permission.objects.get(codename="view_evidence"))
    for url in detail_pages:
        assert "c-lines" in client.get(url).content.decode()
    assert "evidence" in b"".join(client.get(export)).decode().splitlines()[0].split(",")


@pytest.mark.parametrize(
    "lookup",
    [
        "email__startswith=b",
        "query__contains=mobile",
        "session_id__startswith=cs_",
        "verdicts__payload__contains=x",
    ],
)
def test_hidden_fields_cannot_be_filtered_by(client_for, rejected, lookup):
    address = reverse("admin:verdicts_order_changelist")
    for role in ("Operator", "superuser"):
        assert client_for(role).get(f"{address}?{lookup}").status_code == 400


@pytest.mark.parametrize("model", ["schedule", "ormq", "success", "failure"])
def test_the_queues_own_admin_is_disabled(client_for, model):
    assert client_for("superuser").get(f"/admin/django_q/{model}/").status_code == 404
