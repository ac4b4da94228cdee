import pytest
from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment
from oracle_site.server.capacity import OTHER_THREADS, Serving, serving


def test_by_default_threads_remain_when_everything_that_waits_is_at_its_limit():
    assert serving(Environment({})) == Serving(
        "127.0.0.1", 8000, 1, 8 + 8 + 4 + OTHER_THREADS, 8, 8, 4
    )


def test_what_is_set_is_taken():
    values = {
        "ORACLE_BIND": "::1",
        "ORACLE_PORT": "80",
        "ORACLE_WEB_PROCESSES": "3",
        "ORACLE_WEB_THREADS": "7",
        "ORACLE_MAX_REGENERATIONS": "1",
        "ORACLE_MAX_CHECKOUTS": "2",
        "ORACLE_MAX_STRIPE_LOOKUPS": "3",
    }
    assert serving(Environment(values)) == Serving("::1", 80, 3, 7, 1, 2, 3)


@pytest.mark.parametrize(
    "values", [{"ORACLE_WEB_THREADS": "20"}, {"ORACLE_BIND": "localhost"}, {"ORACLE_PORT": "0"}]
)
def test_what_cannot_be_is_refused(values):
    with pytest.raises(ImproperlyConfigured, match=next(iter(values))):
        serving(Environment(values))
