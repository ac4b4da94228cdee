"""The table of email kinds is complete: a kind that cannot be sent fails here, not in a worker."""

import pytest
from django.template.loader import get_template

from verdicts.mail.kinds import KINDS, OPERATIONAL_KINDS, TO_CUSTOMERS, Audience
from verdicts.models import Delivery


def test_every_kind_has_a_row():
    assert set(KINDS) == set(Delivery.Kind)


@pytest.mark.parametrize("kind", Delivery.Kind)
def test_every_kind_has_a_subject_templates_and_a_retry_policy(kind):
    row = KINDS[kind]
    assert row.subject.format(label="GREEN").strip()
    assert row.retry.max_attempts >= 2
    for suffix in ("txt", "html"):
        get_template(f"email/{row.template}.{suffix}")


def test_every_kind_has_one_audience():
    about_orders = {kind for kind, row in KINDS.items() if row.audience is Audience.STAFF}
    assert {*about_orders, *TO_CUSTOMERS, *OPERATIONAL_KINDS} == set(Delivery.Kind)
    assert len(about_orders) + len(TO_CUSTOMERS) + len(OPERATIONAL_KINDS) == len(Delivery.Kind)


def test_a_divergence_notice_is_retried_once_after_a_minute():
    """R13: a missed contradiction costs more than a late one; the document allows one retry."""
    retry = KINDS[Delivery.Kind.DIVERGENCE].retry
    assert (retry.delays, retry.resend_if_unknown) == ((60,), False)
