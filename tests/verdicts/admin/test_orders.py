"""Orders: search by email, ids and fingerprint; resending the stored email."""

import pytest
from django.urls import reverse

from audit.models import Action
from verdicts.models import Delivery, Order, Verdict

pytestmark = pytest.mark.django_db


def found(client, term: str) -> list[int]:
    answer = client.get(reverse("admin:verdicts_order_changelist"), {"q": term})
    return [order.pk for order in answer.context["cl"].result_list]


def page(order: Order) -> str:
    return reverse("admin:verdicts_order_change", args=[order.pk])


def resend(client, order: Order, reason: str = "they lost it", seen: str | None = None):
    if seen is None:
        seen = Delivery.objects.get(order=order).sent_at.isoformat()
    address = reverse("admin:verdicts_order_resend", args=[order.pk])
    answer = client.post(address, {"reason": reason, "seen": seen}, follow=True)
    return " ".join(str(m) for m in answer.context["messages"]) if answer.context else answer


@pytest.mark.parametrize("form", [str, str.upper, lambda text: f"  {text} "])
def test_an_order_is_found_by_its_fingerprint(reviewer, delivered, form):
    order = delivered("quick")
    delivered("full")
    assert found(reviewer, form(Verdict.objects.get(order=order).fingerprint)) == [order.pk]


def test_an_order_is_found_by_email_session_payment_and_number(reviewer, paid_order):
    first, second = paid_order(), paid_order(customer_details={"email": "Other@Example.com"})
    assert found(reviewer, "OTHER@example.com") == [second.pk]
    assert found(reviewer, first.session_id) == [first.pk]
    assert found(reviewer, first.payment_intent) == [first.pk]
    assert found(reviewer, str(second.pk)) == [second.pk]
    assert found(reviewer, "example") == []
    assert found(reviewer, "9" * 30) == []


def test_searching_by_email_needs_the_permission_to_see_customers(client_for, paid_order):
    order = paid_order()
    operator = client_for("Operator")
    assert found(operator, "buyer@example.com") == []
    assert found(operator, str(order.pk)) == [order.pk]


def test_the_fingerprint_is_the_one_in_the_email(sandbox, delivered):
    order = delivered("quick")
    (mail,) = sandbox.messages(to="buyer@example.com")
    assert Verdict.objects.get(order=order).fingerprint in mail["text"]


def test_the_page_shows_the_whole_timeline(reviewer, diverged):
    text = reviewer.get(page(diverged)).content.decode()
    for word in ("ordered", "paid", "checked", "stored", "sent", "compared", "buyer@example.com"):
        assert word in text


def test_a_smoke_tests_order_is_marked(reviewer, bought, run_jobs):
    smoke, customers = bought("quick", smoke=True), bought("quick")
    run_jobs()
    address = reverse("admin:verdicts_order_changelist")
    assert "smoke test" in reviewer.get(address, {"smoke__exact": "1"}).content.decode()
    for flag, order in (("1", smoke), ("0", customers)):
        listed = reviewer.get(address, {"smoke__exact": flag}).context["cl"].result_list
        assert [one.pk for one in listed] == [order.pk]
    assert "not of a customer" in reviewer.get(page(smoke)).content.decode()
    assert "not of a customer" not in reviewer.get(page(customers)).content.decode()


def test_the_stored_email_is_sent_again_once(sandbox, reviewer, delivered, run_jobs):
    order = delivered("quick")
    seen = Delivery.objects.get().sent_at.isoformat()
    assert seen.replace("+", "&#x2B;") in reviewer.get(page(order)).content.decode() or (
        seen in reviewer.get(page(order)).content.decode()
    )
    assert "is being sent again" in resend(reviewer, order, seen=seen)
    assert "Nothing was sent" in resend(reviewer, order, seen=seen)
    run_jobs()
    assert "Nothing was sent" in resend(reviewer, order, seen=seen)  # from an outdated page
    run_jobs()
    first, second = sandbox.messages(to="buyer@example.com")
    assert first["message_id"] == second["message_id"]
    assert sandbox.requests("gemini") == []
    assert [one.who for one in Action.objects.all()] == ["ada"]


def test_resending_needs_a_reason(reviewer, delivered):
    order = delivered("quick")
    assert "Enter a reason" in resend(reviewer, order, reason=" ")
    assert not Action.objects.exists()


@pytest.mark.parametrize("role", ["ungrouped", "Operator"])
def test_resending_needs_the_permission_to_decide(client_for, delivered, role):
    order = delivered("quick")
    client = client_for(role)
    assert resend(client, order).status_code == 403
    assert Delivery.objects.get().state == Delivery.State.SENT
    if role == "Operator":
        assert "Resend" not in client.get(page(order)).content.decode()


def test_without_a_stored_verdict_nothing_can_be_resent(reviewer, rejected):
    assert "Resend" not in reviewer.get(page(rejected.order)).content.decode()
    assert "no stored verdict" in resend(reviewer, rejected.order, seen="")


@pytest.mark.parametrize(
    "query",
    ["paid_at_to=9999-12-31", "paid_at_from=0001-01-01", "status__exact=%00", "tier__exact=%00"],
)
@pytest.mark.parametrize("page", ["", "export.csv"])
def test_a_malformed_url_is_not_a_server_error(admin_client, paid_order, page, query):
    paid_order()
    answer = admin_client.get(f"/admin/verdicts/order/{page}?{query}")
    assert answer.status_code < 500
    if answer.streaming:
        b"".join(answer.streaming_content)


def test_an_invalid_date_sends_nothing(admin_client, delivered, sandbox):
    order = delivered("quick")
    sent = {"reason": "why", "seen": "2026-13-45T00:00:00"}
    answer = admin_client.post(f"/admin/verdicts/order/{order.pk}/resend/", sent, follow=True)
    assert "Reload the page" in answer.content.decode()
    assert len(sandbox.messages(to="buyer@example.com")) == 1
