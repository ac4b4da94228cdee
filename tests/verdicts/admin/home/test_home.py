"""Home: what needs a person, how the house is doing, and what must not be overlooked."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import CrosscheckLog, DayCount, DivergenceEvent, Escalation
from verdicts.models import Case
from verdicts.monitoring.daily_stats import roll_up_open_days

pytestmark = pytest.mark.django_db


def home(client, **query: str):
    answer = client.get("/admin/", query)
    assert answer.status_code == 200
    return answer


def card(answer, title: str):
    return next(one for one in answer.context["cards"] if one.title == title)


def test_what_waits_is_counted_with_its_oldest(reviewer, two_rejected, paid_order):
    paid_order(currency="usd")
    opened = timezone.now() - timedelta(hours=5, minutes=3)
    Case.objects.filter(pk=two_rejected[0].pk).update(opened_at=opened)
    piles = {pile.title: pile for pile in home(reviewer).context["piles"]}
    assert (piles["rejected by the gate"].count, piles["rejected by the gate"].oldest) == (
        2,
        "5 h 3 min",
    )
    assert piles["payment held"].count == 1
    assert piles["order failed"].count == 0
    link = piles["rejected by the gate"].link
    assert len(reviewer.get(link).context["cl"].result_list) == 2


def test_the_figures_are_those_of_the_rows(reviewer, rejected, diverged):
    roll_up_open_days()
    answer = home(reviewer)
    assert card(answer, "Orders paid").value == "2"
    assert card(answer, "Revenue").value == "CA$10.00"
    assert card(answer, "Approved by the gate").value == "50.0%"
    assert card(answer, "Regenerations that differed").value == "100.0%"
    assert "1 regenerations" in card(answer, "Answered from the cache").note
    text = answer.content.decode()
    assert "dimension conflict" in text  # a flag
    assert 'aria-label="Orders paid, by tier: 0 quick, 2 full, 0 strategy."' in text


def test_the_period_is_what_was_asked_for(reviewer):
    today = timezone.now().date()
    for back in (0, 10, 60):
        day = today - timedelta(days=back)
        DayCount.objects.create(day=day, name="order", tier="full", key="delivered", count=1)
    for days, orders in (("7", "1"), ("30", "2"), ("90", "3"), ("4000", "2"), ("x", "2")):
        assert card(home(reviewer, days=days), "Orders paid").value == orders


def vary(checked: int, diverged: int) -> None:
    for number in range(checked):
        check = CrosscheckLog.objects.create(
            session_id=f"s{number}",
            kind="regen",
            tier="full",
            approved=True,
            threshold=0.97,
            verdict_label="GREEN",
            crosscheck_reason="pass",
        )
        DivergenceEvent.objects.create(
            crosscheck=check,
            session_id=check.session_id,
            tier="full",
            original_verdict="GREEN",
            original_source="verdict",
            regen_verdict="GREEN",
            level="minor" if number < diverged else "none",
            skipped=False,
            causes=["infrastructure"],
            same_inputs=True,
            latency_ms=1,
        )


def test_a_model_that_contradicts_itself_is_a_banner(reviewer):
    vary(checked=20, diverged=1)  # five percent is on the line, not above it
    assert "contradicts itself" not in home(reviewer).content.decode()
    vary(checked=5, diverged=2)
    text = home(reviewer).content.decode()
    assert "The model contradicts itself too often" in text
    assert "3 of 25 regenerations on equal terms" in text
    assert "12.0%" in text


def test_todays_escalation_stays_a_banner_yesterdays_does_not(reviewer):
    day = timezone.now().date()
    Escalation.objects.create(day=day - timedelta(days=1), checked=20, diverged=2, low=0, high=1)
    assert "contradicts itself" not in home(reviewer).content.decode()
    Escalation.objects.create(day=day, checked=20, diverged=2, low=0, high=1)
    assert "contradicts itself" in home(reviewer).content.decode()


def test_a_model_that_ignores_the_lock_is_a_banner(reviewer, settings):
    assert "ORACLE_MODEL" not in home(reviewer).content.decode()
    settings.ORACLE_MODEL = "gemini-3.5-flash"
    assert "ignores temperature, topP, topK" in home(reviewer).content.decode()


def test_who_has_no_rights_sees_no_figures(person, rejected):
    answer = home(person("nobody"))
    assert "cards" not in answer.context
    assert "piles" not in answer.context
    assert "nobody has given you a group" in answer.content.decode()
    assert "Review queue" not in answer.content.decode()


def test_home_costs_the_same_however_much_there_is(reviewer, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        home(reviewer, days="90")


def test_nothing_is_loaded_from_elsewhere_and_no_handler_is_inline(reviewer, rejected):
    for address in ("/admin/", f"/admin/verdicts/case/{rejected.pk}/change/"):
        text = reviewer.get(address).content.decode()
        assert 'src="http' not in text
        assert 'href="http' not in text
        assert "onclick=" not in text
