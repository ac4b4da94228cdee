"""A case's buttons: permissions, effects that happen once, messages and redirects."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from audit.models import Action, ModelCall
from verdicts.models import Case, Delivery, Order, Status

pytestmark = pytest.mark.django_db


def case_url(case: Case, verb: str = "change") -> str:
    return reverse(f"admin:verdicts_case_{verb}", args=[case.pk])


def resolve(client, case: Case, outcome: str, *, note="because", confirmed=True):
    data = {"outcome": outcome, "note": note} | ({"confirmed": "1"} if confirmed else {})
    return client.post(case_url(case, "resolve"), data, follow=True)


def messages_of(response) -> str:
    return " ".join(str(message) for message in response.context["messages"])


def refunds(sandbox) -> int:
    return sum(one["path"].endswith("/refunds") for one in sandbox.requests("stripe"))


def test_the_queue_lists_open_cases_oldest_first(reviewer, two_rejected):
    first, second = two_rejected
    Case.objects.filter(pk=second.pk).update(opened_at=first.opened_at - timedelta(hours=3))
    queue = reverse("admin:verdicts_case_changelist")
    listed = [case.pk for case in reviewer.get(queue).context["cl"].result_list]
    assert listed == [second.pk, first.pk]
    resolve(reviewer, second, "correct")
    listed = [case.pk for case in reviewer.get(queue).context["cl"].result_list]
    assert listed == [first.pk]
    closed = reviewer.get(queue, {"standing": "closed"}).context["cl"].result_list
    assert [case.pk for case in closed] == [second.pk]
    found = reviewer.get(queue, {"q": str(second.pk)}).context["cl"].result_list
    assert [case.pk for case in found] == [second.pk]  # by its number, closed or not


def test_next_is_the_oldest_unclaimed_case(client_for, reviewer, two_rejected):
    first, second = two_rejected
    next_url = reverse("admin:verdicts_case_next")
    assert reviewer.get(next_url).url == case_url(first)
    client_for("NOUS", "grace").post(case_url(first, "claim"))
    assert reviewer.get(next_url).url == case_url(second)
    assert case_url(second) in reviewer.get(case_url(first)).content.decode()


def test_next_without_open_cases_adds_a_message(reviewer):
    assert "No case is open" in messages_of(
        reviewer.get(reverse("admin:verdicts_case_next"), follow=True)
    )


def test_a_case_is_claimed_by_one_user_until_released(client_for, reviewer, rejected):
    grace = client_for("NOUS", "grace")
    assert "You have claimed" in messages_of(
        reviewer.post(case_url(rejected, "claim"), follow=True)
    )
    answer = grace.post(case_url(rejected, "claim"), follow=True)
    assert "ada has claimed it until" in messages_of(answer)
    assert 'name="outcome"' not in answer.content.decode()
    assert "no longer had the claim" in messages_of(
        grace.post(case_url(rejected, "leave"), follow=True)
    )
    reviewer.post(case_url(rejected, "leave"))
    assert "You have claimed" in messages_of(grace.post(case_url(rejected, "claim"), follow=True))


def test_an_expired_claim_can_be_taken_over(client_for, reviewer, rejected):
    reviewer.post(case_url(rejected, "claim"))
    Case.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    client_for("NOUS", "grace").post(case_url(rejected, "claim"))
    answer = resolve(reviewer, rejected, "correct")
    assert "Nothing was changed. grace has claimed it until" in messages_of(answer)
    assert Case.objects.get().closed_at is None


def test_a_refund_is_confirmed_and_made_once(sandbox, reviewer, rejected, run_jobs):
    question = resolve(reviewer, rejected, "refunded", confirmed=False)
    assert "5.00 CAD" in question.content.decode()
    assert refunds(sandbox) == 0
    done = resolve(reviewer, rejected, "refunded")
    assert "refunded" in messages_of(done)
    assert done.redirect_chain == [(reverse("admin:verdicts_case_changelist"), 302)]
    assert "ada has already closed it" in messages_of(resolve(reviewer, rejected, "refunded"))
    run_jobs()
    assert refunds(sandbox) == 1
    order = Order.objects.get()
    assert order.refunded_cents == 500
    assert Delivery.objects.filter(kind=Delivery.Kind.REFUND).count() == 1
    assert {one.who for one in Action.objects.all()} == {"ada"}


def test_a_closed_case_offers_no_outcomes(reviewer, rejected):
    resolve(reviewer, rejected, "correct")
    answer = resolve(reviewer, rejected, "refunded", confirmed=False)
    assert "no longer possible" in messages_of(answer)
    page = reviewer.get(case_url(rejected)).content.decode()
    assert 'name="outcome"' not in page
    assert "closed: rightly rejected" in page


def test_if_stripe_is_unavailable_the_case_stays_open(sandbox, reviewer, rejected):
    sandbox.fault("stripe", "unavailable", times=None)
    answer = resolve(reviewer, rejected, "refunded")
    assert "The case stays open" in messages_of(answer)
    assert Case.objects.get().closed_at is None


def test_a_decision_needs_a_note_and_an_outcome(reviewer, rejected):
    assert "Write a note" in messages_of(resolve(reviewer, rejected, "correct", note="  "))
    assert "Choose" in messages_of(resolve(reviewer, rejected, "burned"))
    assert Case.objects.get().closed_at is None


def test_get_requests_change_nothing(reviewer, rejected):
    for verb in ("claim", "leave", "resolve"):
        assert reviewer.get(case_url(rejected, verb)).url == case_url(rejected)
    assert Case.objects.get().claimed_by is None


@pytest.mark.parametrize("role", ["anonymous", "customer", "ungrouped", "Operator"])
def test_the_buttons_need_permissions(client_for, client, rejected, sandbox, role):
    visitor = client if role == "anonymous" else client_for(role)
    expected = 302 if role in ("anonymous", "customer") else 403
    for verb in ("claim", "leave", "resolve"):
        answer = visitor.post(
            case_url(rejected, verb), {"outcome": "refunded", "note": "x", "confirmed": "1"}
        )
        assert answer.status_code == expected
        assert "/login/" in answer.get("Location", "/login/")
    case = Case.objects.get()
    assert (case.claimed_by, case.closed_at) == (None, None)
    assert refunds(sandbox) == 0


def test_an_operator_sees_the_reason_but_no_outcomes(client_for, rejected):
    page = client_for("Operator").get(case_url(rejected)).content.decode()
    assert "most dimensions are RED" in page
    assert "You do not have the permission to decide cases." in page
    assert 'name="outcome"' not in page
    assert "verdicts/case/1/claim" not in page


def test_a_refund_needs_its_own_permission(client, rejected, sandbox):
    user = User.objects.create_user("junior", is_staff=True)
    for name in ("view_case", "change_case"):
        user.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(user)
    page = client.get(case_url(rejected)).content.decode()
    assert 'value="correct"' in page
    assert 'value="refunded"' not in page
    for confirmed in (True, False):
        assert resolve(client, rejected, "refunded", confirmed=confirmed).status_code == 403
    assert refunds(sandbox) == 0


def test_only_nous_authorizes_a_generation(client_for, reviewer, rejected, run_jobs):
    assert 'value="authorized"' not in reviewer.get(case_url(rejected)).content.decode()
    assert resolve(reviewer, rejected, "authorized").status_code == 403
    assert ModelCall.objects.count() == 1
    nous = client_for("NOUS")
    assert 'value="authorized"' in nous.get(case_url(rejected)).content.decode()
    assert (
        "cannot be undone"
        in resolve(nous, rejected, "authorized", confirmed=False).content.decode()
    )
    resolve(nous, rejected, "authorized", note="the customer waits")
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    action = Action.objects.get(action__startswith="authorize")
    assert (action.who, action.reason) == ("nous", "the customer waits")


def test_outcomes_that_the_order_rules_out_are_not_offered(client_for, rejected):
    Order.objects.update(refunded_at=timezone.now())
    page = client_for("NOUS").get(case_url(rejected)).content.decode()
    assert 'value="authorized"' not in page


def test_the_page_explains_the_score(reviewer, rejected):
    page = reviewer.get(case_url(rejected)).content.decode()
    check = rejected.crosscheck
    assert f"/ V_t {check.v_t} = {check.coherence_score:.4f}" in page
    assert "&lt; Ω 0.97404: rejected" in page
    for one in check.contributions:
        assert one["where"] in page
    assert "A perpetuum mobile?" in page
    assert "rejected (dimension_conflict)" in page  # the timeline


def test_several_cases_are_closed_with_one_note(client_for, reviewer, two_rejected, paid_order):
    first, second = two_rejected
    paid_order(currency="usd")  # held: cannot be closed as rightly rejected
    queue = reverse("admin:verdicts_case_changelist")
    chosen = [str(pk) for pk in Case.objects.values_list("pk", flat=True)]
    data = {"action": "close_with_note", "_selected_action": chosen}
    page = reviewer.post(queue, data).content.decode()
    assert "Close 3 cases with one note" in page
    assert not Case.objects.exclude(closed_at=None).exists()
    client_for("NOUS", "grace").post(case_url(second, "claim"))
    assert "write a note" in messages_of(
        reviewer.post(queue, data | {"apply": "1", "outcome": "correct"})
    )
    applied = data | {"apply": "1", "outcome": "correct", "note": "seen"}
    answer = reviewer.post(queue, applied, follow=True)
    assert "Closed 1 of 3" in messages_of(answer)
    assert "Not closed: 2." in messages_of(answer)
    closed = Case.objects.exclude(closed_at=None).get()
    assert (closed.pk, closed.outcome, closed.note) == (first.pk, "correct", "seen")


def test_bulk_closing_allows_no_refunds_and_needs_permission(client_for, reviewer, rejected):
    queue = reverse("admin:verdicts_case_changelist")
    data = {
        "action": "close_with_note",
        "_selected_action": [str(rejected.pk)],
        "apply": "1",
        "note": "all of them",
    }
    reviewer.post(queue, data | {"outcome": "refunded"})
    client_for("Operator").post(queue, data | {"outcome": "correct"})
    assert Case.objects.get().closed_at is None
