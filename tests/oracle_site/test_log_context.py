import pytest
from django.test import RequestFactory

from oracle_site.log_context import session_in

SESSION = "cs_test_a1B2c3D4e5"


@pytest.mark.parametrize(
    ("url", "session_id"),
    [
        (f"/oracle/result?session_id={SESSION}", SESSION),
        (f"/api/verdict?a=b&session_id={SESSION}&c=d", SESSION),
        (f"/api/verdict?session_id={SESSION.replace('_', '%5F')}", SESSION),
        (f"/cache/{SESSION}", SESSION),
        (f"/admin/verdicts/order/?q={SESSION}", SESSION),
        ("/oracle/result", ""),
        ("/oracle/result?session_id=", ""),
        ("/api/verdict?session_id=%ff%00", ""),
        ("/?session_id=cs_other_a1B2c3D4e5", ""),
    ],
)
def test_the_session_id_is_found_in_the_url(url, session_id):
    assert session_in(RequestFactory().get(url)) == session_id
