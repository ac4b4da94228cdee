import pytest
from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment
from oracle_site.server.capacity import OTHER_THREADS, Serving, serving


def test_default_threads_exceed_the_sum_of_the_concurrency_limits():
    assert serving(Environment({})) == Serving(
        "127.0.0.1", 8000, 1, 8 + 8 + 4 + OTHER_THREADS, 8, 8, 4
    )


def test_values_are_read_from_the_environment():
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
def test_an_invalid_value_names_its_variable(values):
    with pytest.raises(ImproperlyConfigured, match=next(iter(values))):
        serving(Environment(values))
