import pytest

from verdicts.core.tiers import TIER


def test_the_landing_page_offers_the_three_tiers_with_their_prices(client):
    page = client.get("/").content.decode()
    for tier in TIER.values():
        assert tier.title in page
        assert all(line in page for line in tier.promise)
    assert "CA$2.00" in page
    assert "CA$5.00" in page
    assert "CA$15.00" in page


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_landing_page_is_only_read(client, method):
    assert getattr(client, method)("/").status_code == 405
