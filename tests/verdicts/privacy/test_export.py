"""A person's orders are found, however the address was typed, then or now."""

import pytest

from verdicts.privacy.export import orders_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("asked", ["JÖRG@example.com", "Jörg@Example.com", "jörg@example.com"])
@pytest.mark.parametrize("given", ["JÖRG@example.com", "jörg@example.com", "Jörg@example.com"])
def test_an_address_beyond_ascii_is_found_in_either_case(paid_order, given, asked):
    order = paid_order(customer_details={"email": given})
    paid_order(customer_details={"email": "jorg@example.com"})
    assert list(orders_of(asked)) == [order]
