"""Nobody changes a record, and nobody sees what they may not."""

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
    """The page of one of everything."""
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
def test_records_are_listed_and_cannot_be_added(person, model):
    client = person("superuser")
    assert client.get(reverse(f"admin:{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:{model}_add")).status_code == 403
    assert client.post(reverse(f"admin:{model}_add"), {}).status_code == 403


def test_not_even_a_superuser_changes_or_deletes_anything(person, rejected, diverged):
    client = person("superuser")
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
def test_nothing_is_deleted_in_bulk(person, rejected, diverged, model):
    changelist = reverse(f"admin:{model}_changelist")
    client = person("superuser")
    asked = {"action": "delete_selected", "_selected_action": ["1"], "post": "yes"}
    client.post(changelist, asked)
    assert "delete_selected" not in client.get(changelist).content.decode()
    assert Order.objects.count() == 2
    assert Case.objects.count() == 1
    assert DivergenceEvent.objects.count() == 1


@pytest.mark.parametrize("role", ["anonymous", "customer", "nobody"])
@pytest.mark.parametrize("model", MODELS)
def test_who_has_no_rights_gets_no_list_and_no_export(person, client, role, model):
    visitor = client if role == "anonymous" else person(role)
    for address in ("changelist", "export"):
        args = ["csv"] if address == "export" else []
        answer = visitor.get(reverse(f"admin:{model}_{address}", args=args))
        assert answer.status_code == (403 if role == "nobody" else 302)


@pytest.mark.parametrize("role", ["Operator", "Reviewer", "NOUS", "superuser"])
@pytest.mark.parametrize("model", MODELS)
def test_every_group_gets_every_list(person, rejected, role, model):
    client = person(role)
    assert client.get(reverse(f"admin:{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:{model}_export", args=["csv"])).status_code == 200


@pytest.mark.parametrize("role", ["Operator", "Reviewer"])
def test_customers_text_is_for_those_who_may_see_it(person, rejected, diverged, role):
    client = person(role)
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


def test_rejected_text_is_for_those_who_may_see_it(client, rejected):
    user = User.objects.create_user("reader", is_staff=True)
    for name in ("view_crosschecklog", "view_case", "view_customer"):
        user.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(user)
    check = rejected.crosscheck
    places = [
        reverse("admin:audit_crosschecklog_change", args=[check.pk]),
        reverse("admin:verdicts_case_change", args=[rejected.pk]),
    ]
    export = reverse("admin:audit_crosschecklog_export", args=["csv"])
    for place in places:
        page = client.get(place).content.decode()
        assert "Hidden: reading rejected outputs" in page
        assert "c-lines" not in page
    assert "evidence" not in b"".join(client.get(export)).decode().splitlines()[0].split(",")
    user.user_permissions.add(Permission.objects.get(codename="view_evidence"))
    for place in places:
        assert "c-lines" in client.get(place).content.decode()
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
def test_what_is_hidden_cannot_be_guessed_by_a_filter_either(person, rejected, lookup):
    address = reverse("admin:verdicts_order_changelist")
    for role in ("Operator", "superuser"):
        assert person(role).get(f"{address}?{lookup}").status_code == 400


@pytest.mark.parametrize("model", ["schedule", "ormq", "success", "failure"])
def test_the_queues_own_forms_are_not_to_be_had(person, model):
    assert person("superuser").get(f"/admin/django_q/{model}/").status_code == 404
