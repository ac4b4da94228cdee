import pytest
from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment
from oracle_site.serving import OTHER_THREADS, Serving, cores, serving


def test_without_settings_it_is_loopback_and_one_process_per_core():
    assert serving(Environment({}), regenerations=8) == Serving(
        "127.0.0.1", 8000, cores(), 8 + OTHER_THREADS
    )


def test_what_is_set_is_taken():
    values = {"ORACLE_BIND": "::1", "ORACLE_PORT": "80", "ORACLE_WEB_PROCESSES": "3"}
    found = serving(Environment({**values, "ORACLE_WEB_THREADS": "9"}), regenerations=8)
    assert found == Serving("::1", 80, 3, 9)


@pytest.mark.parametrize(
    "values", [{"ORACLE_WEB_THREADS": "8"}, {"ORACLE_BIND": "localhost"}, {"ORACLE_PORT": "0"}]
)
def test_what_cannot_be_is_refused(values):
    with pytest.raises(ImproperlyConfigured, match=next(iter(values))):
        serving(Environment(values), regenerations=8)
