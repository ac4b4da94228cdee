"""Home: open cases, statistics and alert banners."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import DayCount, Escalation
from tests.support.comparisons import add_comparisons
from verdicts.models import Case
from verdicts.monitoring.daily_stats import roll_up_open_days

pytestmark = pytest.mark.django_db


def home(client, **query: str):
    answer = client.get("/admin/", query)
    assert answer.status_code == 200
    return answer


def card(answer, title: str):
    return next(one for one in answer.context["cards"] if one.title == title)


def test_open_cases_are_counted_by_kind_with_the_oldest(reviewer, two_rejected, paid_order):
    paid_order(currency="usd")
    opened = timezone.now() - timedelta(hours=5, minutes=3)
    Case.objects.filter(pk=two_rejected[0].pk).update(opened_at=opened)
    queues = {queue.title: queue for queue in home(reviewer).context["open_cases"]}
    assert (queues["rejected by the gate"].count, queues["rejected by the gate"].oldest) == (
        2,
        "5 h 3 min",
    )
    assert queues["payment held"].count == 1
    assert queues["order failed"].count == 0
    link = queues["rejected by the gate"].link
    assert len(reviewer.get(link).context["cl"].result_list) == 2


def test_the_statistics_match_the_records(reviewer, rejected, diverged):
    roll_up_open_days()
    answer = home(reviewer)
    assert card(answer, "Orders paid").value == "2"
    assert card(answer, "Revenue").value == "CA$10.00"
    assert card(answer, "Approved by the gate").value == "50.0%"
    assert card(answer, "Regenerations that differed").value == "100.0%"
    assert "1 regenerations" in card(answer, "Served from the cache").note
    text = answer.content.decode()
    assert "dimension conflict" in text  # a flag
    assert 'aria-label="Orders paid, by tier: 0 quick, 2 full, 0 strategy."' in text


def test_the_period_can_be_chosen(reviewer):
    today = timezone.now().date()
    for back in (0, 10, 60):
        day = today - timedelta(days=back)
        DayCount.objects.create(day=day, name="order", tier="full", key="delivered", count=1)
    for days, orders in (("7", "1"), ("30", "2"), ("90", "3"), ("4000", "2"), ("x", "2")):
        assert card(home(reviewer, days=days), "Orders paid").value == orders


def test_a_variance_above_the_alert_rate_is_a_banner(reviewer):
    add_comparisons(19)
    add_comparisons(1, "minor")  # 5% equals the alert rate
    assert "contradicts itself" not in home(reviewer).content.decode()
    add_comparisons(3)
    add_comparisons(2, "minor")
    text = home(reviewer).content.decode()
    assert "The model contradicts itself too often" in text
    assert 'class="c-banner c-danger"' in text
    assert "3 of 25 regenerations on equal terms" in text
    assert "12.0%" in text


def test_only_todays_escalation_is_a_banner(reviewer):
    day = timezone.now().date()
    Escalation.objects.create(day=day - timedelta(days=1), checked=20, diverged=2, low=0, high=1)
    assert "contradicts itself" not in home(reviewer).content.decode()
    Escalation.objects.create(day=day, checked=20, diverged=2, low=0, high=1)
    assert "contradicts itself" in home(reviewer).content.decode()


def test_a_model_that_ignores_locked_parameters_is_a_banner(reviewer, settings):
    assert "ORACLE_MODEL" not in home(reviewer).content.decode()
    settings.ORACLE_MODEL = "gemini-3.5-flash"
    assert "ignores temperature, topP, topK" in home(reviewer).content.decode()


def test_without_permissions_the_page_has_no_data(client_for, rejected):
    answer = home(client_for("ungrouped"))
    assert "cards" not in answer.context
    assert "open_cases" not in answer.context
    assert "your account is in no group yet" in answer.content.decode()
    assert "Review queue" not in answer.content.decode()


def test_the_number_of_queries_is_constant(reviewer, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        home(reviewer, days="90")


def test_no_external_resources_and_no_inline_handlers(reviewer, rejected):
    for address in ("/admin/", f"/admin/verdicts/case/{rejected.pk}/change/"):
        text = reviewer.get(address).content.decode()
        assert 'src="http' not in text
        assert 'href="http' not in text
        assert "onclick=" not in text
