"""The buttons of a case: who may press them, one effect, a sentence, a page to reload."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from audit.models import Action, ModelCall
from verdicts.models import Case, Delivery, Order, Status

pytestmark = pytest.mark.django_db


def url(case: Case, verb: str = "change") -> str:
    return reverse(f"admin:verdicts_case_{verb}", args=[case.pk])


def resolve(client, case: Case, outcome: str, *, note="because", confirmed=True):
    asked = {"outcome": outcome, "note": note} | ({"confirmed": "1"} if confirmed else {})
    return client.post(url(case, "resolve"), asked, follow=True)


def said(response) -> str:
    return " ".join(str(message) for message in response.context["messages"])


def refunds(sandbox) -> int:
    return sum(one["path"].endswith("/refunds") for one in sandbox.requests("stripe"))


def test_the_queue_shows_the_oldest_first_and_only_what_is_open(reviewer, two_rejected):
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


def test_next_is_the_oldest_that_nobody_is_at(person, reviewer, two_rejected):
    first, second = two_rejected
    following = reverse("admin:verdicts_case_next")
    assert reviewer.get(following).url == url(first)
    person("NOUS", "grace").post(url(first, "claim"))
    assert reviewer.get(following).url == url(second)
    assert url(second) in reviewer.get(url(first)).content.decode()


def test_with_nothing_open_next_says_so(reviewer):
    assert "Nothing is waiting" in said(
        reviewer.get(reverse("admin:verdicts_case_next"), follow=True)
    )


def test_a_case_is_claimed_by_one_and_given_back(person, reviewer, rejected):
    grace = person("NOUS", "grace")
    assert "yours" in said(reviewer.post(url(rejected, "claim"), follow=True))
    answer = grace.post(url(rejected, "claim"), follow=True)
    assert "ada has claimed it until" in said(answer)
    assert 'name="outcome"' not in answer.content.decode()
    assert "not yours" in said(grace.post(url(rejected, "leave"), follow=True))
    reviewer.post(url(rejected, "leave"))
    assert "yours" in said(grace.post(url(rejected, "claim"), follow=True))


def test_a_claim_that_ran_out_is_free_for_the_next(person, reviewer, rejected):
    reviewer.post(url(rejected, "claim"))
    Case.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    person("NOUS", "grace").post(url(rejected, "claim"))
    answer = resolve(reviewer, rejected, "correct")
    assert "Nothing was done. grace has claimed it until" in said(answer)
    assert Case.objects.get().closed_at is None


def test_a_refund_is_asked_about_twice_and_done_once(sandbox, reviewer, rejected, run_jobs):
    asked = resolve(reviewer, rejected, "refunded", confirmed=False)
    assert "5.00 CAD" in asked.content.decode()
    assert refunds(sandbox) == 0
    done = resolve(reviewer, rejected, "refunded")
    assert "refunded" in said(done)
    assert done.redirect_chain == [(reverse("admin:verdicts_case_changelist"), 302)]
    assert "ada has already closed it" in said(resolve(reviewer, rejected, "refunded"))
    run_jobs()
    assert refunds(sandbox) == 1
    order = Order.objects.get()
    assert order.refunded_cents == 500
    assert Delivery.objects.filter(kind=Delivery.Kind.REFUND).count() == 1
    assert {one.who for one in Action.objects.all()} == {"ada"}


def test_a_closed_case_is_asked_about_no_more(reviewer, rejected):
    resolve(reviewer, rejected, "correct")
    answer = resolve(reviewer, rejected, "refunded", confirmed=False)
    assert "cannot be done any more" in said(answer)
    page = reviewer.get(url(rejected)).content.decode()
    assert 'name="outcome"' not in page
    assert "closed: rightly so" in page


def test_when_stripe_is_away_the_case_stays_open(sandbox, reviewer, rejected):
    sandbox.fault("stripe", "unavailable", times=None)
    answer = resolve(reviewer, rejected, "refunded")
    assert "The case stays open" in said(answer)
    assert Case.objects.get().closed_at is None


def test_without_a_note_nothing_is_decided(reviewer, rejected):
    assert "Write a note" in said(resolve(reviewer, rejected, "correct", note="  "))
    assert "Choose" in said(resolve(reviewer, rejected, "burned"))
    assert Case.objects.get().closed_at is None


def test_looking_at_an_action_does_nothing(reviewer, rejected):
    for verb in ("claim", "leave", "resolve"):
        assert reviewer.get(url(rejected, verb)).url == url(rejected)
    assert Case.objects.get().claimed_by is None


@pytest.mark.parametrize("role", ["anonymous", "customer", "nobody", "Operator"])
def test_who_may_not_decide_presses_in_vain(person, client, rejected, sandbox, role):
    visitor = client if role == "anonymous" else person(role)
    expected = 302 if role in ("anonymous", "customer") else 403
    for verb in ("claim", "leave", "resolve"):
        answer = visitor.post(
            url(rejected, verb), {"outcome": "refunded", "note": "x", "confirmed": "1"}
        )
        assert answer.status_code == expected
        assert "/login/" in answer.get("Location", "/login/")
    case = Case.objects.get()
    assert (case.claimed_by, case.closed_at) == (None, None)
    assert refunds(sandbox) == 0


def test_an_operator_reads_why_and_is_offered_nothing(person, rejected):
    page = person("Operator").get(url(rejected)).content.decode()
    assert "most dimensions are RED" in page
    assert "You may look at cases, not decide them." in page
    assert 'name="outcome"' not in page
    assert "verdicts/case/1/claim" not in page


def test_money_needs_its_own_permission(client, rejected, sandbox):
    user = User.objects.create_user("junior", is_staff=True)
    for name in ("view_case", "change_case"):
        user.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(user)
    page = client.get(url(rejected)).content.decode()
    assert 'value="correct"' in page
    assert 'value="refunded"' not in page
    for confirmed in (True, False):
        assert resolve(client, rejected, "refunded", confirmed=confirmed).status_code == 403
    assert refunds(sandbox) == 0


def test_only_nous_has_a_verdict_made_anew(person, reviewer, rejected, run_jobs):
    assert 'value="authorized"' not in reviewer.get(url(rejected)).content.decode()
    assert resolve(reviewer, rejected, "authorized").status_code == 403
    assert ModelCall.objects.count() == 1
    nous = person("NOUS")
    assert 'value="authorized"' in nous.get(url(rejected)).content.decode()
    assert (
        "cannot be taken back"
        in resolve(nous, rejected, "authorized", confirmed=False).content.decode()
    )
    resolve(nous, rejected, "authorized", note="the customer waits")
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    action = Action.objects.get(action__startswith="authorize")
    assert (action.who, action.reason) == ("nous", "the customer waits")


def test_what_the_order_no_longer_allows_is_not_offered(person, rejected):
    Order.objects.update(refunded_at=timezone.now())
    page = person("NOUS").get(url(rejected)).content.decode()
    assert 'value="authorized"' not in page


def test_the_page_says_why_with_numbers(reviewer, rejected):
    page = reviewer.get(url(rejected)).content.decode()
    check = rejected.crosscheck
    assert f"/ V_t {check.v_t} = {check.coherence_score:.4f}" in page
    assert "&lt; Ω 0.97404: rejected" in page
    for one in check.contributions:
        assert one["where"] in page
    assert "A perpetuum mobile?" in page
    assert "rejected (dimension_conflict)" in page  # the timeline


def test_many_are_closed_with_one_note(person, reviewer, two_rejected, paid_order):
    first, second = two_rejected
    paid_order(currency="usd")  # held: 'rightly rejected' does not fit it
    queue = reverse("admin:verdicts_case_changelist")
    chosen = [str(pk) for pk in Case.objects.values_list("pk", flat=True)]
    asked = {"action": "close_with_note", "_selected_action": chosen}
    page = reviewer.post(queue, asked).content.decode()
    assert "Close 3 cases with one note" in page
    assert not Case.objects.exclude(closed_at=None).exists()
    person("NOUS", "grace").post(url(second, "claim"))
    assert "write a note" in said(
        reviewer.post(queue, asked | {"apply": "1", "outcome": "correct"})
    )
    applied = asked | {"apply": "1", "outcome": "correct", "note": "seen"}
    answer = reviewer.post(queue, applied, follow=True)
    assert "Closed 1 of 3" in said(answer)
    assert "Left 2" in said(answer)
    closed = Case.objects.exclude(closed_at=None).get()
    assert (closed.pk, closed.outcome, closed.note) == (first.pk, "correct", "seen")


def test_money_is_not_moved_in_bulk_and_an_operator_closes_nothing(person, reviewer, rejected):
    queue = reverse("admin:verdicts_case_changelist")
    asked = {
        "action": "close_with_note",
        "_selected_action": [str(rejected.pk)],
        "apply": "1",
        "note": "all of them",
    }
    reviewer.post(queue, asked | {"outcome": "refunded"})
    person("Operator").post(queue, asked | {"outcome": "correct"})
    assert Case.objects.get().closed_at is None
