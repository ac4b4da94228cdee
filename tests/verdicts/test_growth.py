"""What stays as quick as it is while the house grows: told by what is read, not by a clock."""

import pytest
from django.db import connection

from verdicts.models import CachedVerdict, Order

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="how PostgreSQL stores it"
)


@on_postgresql
def test_a_hit_unpacks_nothing(delivered):
    """A body of ordinary length lies in its row, as it is sent."""
    order: Order = delivered("full")
    CachedVerdict.objects.filter(session_id=order.session_id).update(body="a word " * 400)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_compression(body), body FROM verdicts_cachedverdict")
        assert cursor.fetchall() == [(None, "a word " * 400)]
