from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.utils import timezone

from verdicts.privacy.login_retention import delete_expired
from verdicts.reconciliation.sweep import sweep

pytestmark = pytest.mark.django_db


def attempt(age: timedelta) -> None:
    row = AccessAttempt.objects.create(
        username="ada", ip_address="192.0.2.7", user_agent=str(age), failures_since_start=5
    )
    AccessAttempt.objects.filter(pk=row.pk).update(attempt_time=timezone.now() - age)


def test_login_attempts_are_deleted_when_their_lockout_is_over(settings):
    attempt(settings.AXES_COOLOFF_TIME + timedelta(seconds=1))
    attempt(settings.AXES_COOLOFF_TIME - timedelta(minutes=1))
    assert delete_expired() == 1
    assert AccessAttempt.objects.count() == 1


def test_expired_sessions_are_deleted():
    now = timezone.now()
    Session.objects.create(session_key="a", session_data="", expire_date=now - timedelta(hours=1))
    Session.objects.create(session_key="b", session_data="", expire_date=now + timedelta(hours=1))
    assert sweep()["logins deleted"] == 1
    assert [session.session_key for session in Session.objects.all()] == ["b"]
