"""Orders are found by email address, whatever its case when ordering and when exporting."""

import pytest

from verdicts.privacy.export import orders_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("asked", ["JÖRG@example.com", "Jörg@Example.com", "jörg@example.com"])
@pytest.mark.parametrize("given", ["JÖRG@example.com", "jörg@example.com", "Jörg@example.com"])
def test_a_non_ascii_address_matches_case_insensitively(paid_order, given, asked):
    order = paid_order(customer_details={"email": given})
    paid_order(customer_details={"email": "jorg@example.com"})
    assert list(orders_of(asked)) == [order]
