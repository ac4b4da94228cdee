from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment

ROOT = Path("/srv/oracle")


def database(url: str) -> dict:
    return Environment({"DATABASE_URL": url}).database("DATABASE_URL", "", default="", root=ROOT)


def test_an_unset_or_empty_variable_takes_the_default():
    for values in ({}, {"NAME": ""}, {"NAME": "  "}):
        env = Environment(values)
        assert env.text("NAME", "", default="x") == "x"
        assert env.flag("NAME", "", default=True) is True
        assert env.integer("NAME", "", default=3, minimum=1, maximum=9) == 3


@pytest.mark.parametrize(("value", "flag"), [("1", True), ("Yes", True), ("0", False), ("off", 0)])
def test_flags(value, flag):
    assert Environment({"DEBUG": value}).flag("DEBUG", "", default=not flag) == flag


def test_a_bad_flag_names_the_variable():
    with pytest.raises(ImproperlyConfigured, match="DEBUG must be 1 or 0, not 'maybe'"):
        Environment({"DEBUG": "maybe"}).flag("DEBUG", "", default=True)


@pytest.mark.parametrize("value", ["49", "101", "five", "5.5", "-50"])
def test_a_bad_number_names_the_variable_and_its_range(value):
    with pytest.raises(ImproperlyConfigured, match="PRICE must be a whole number from 50 to 100"):
        Environment({"PRICE": value}).integer("PRICE", "", default=60, minimum=50, maximum=100)


def test_an_address_loses_its_last_slash():
    env = Environment({"SITE_URL": "https://oracle.example/"})
    assert env.url("SITE_URL", "", default="") == "https://oracle.example"


@pytest.mark.parametrize(
    "value",
    [
        "oracle.example",
        "ftp://x",
        "https://",
        "https://x/path",
        "https://x?a=b",
        "https://x#a",
        "https://user:pw@x",
        "https://x:99999",
        "http://[::1",
    ],
)
def test_a_bad_address_names_the_variable(value):
    with pytest.raises(ImproperlyConfigured, match="SITE_URL must be an address"):
        Environment({"SITE_URL": value}).url("SITE_URL", "", default="")


def secret(value: str, *, required: bool) -> str:
    env = Environment({"KEY": value})
    return env.secret("KEY", "signs", required=required, min_length=3, default="dev")


def test_a_secret_must_be_set_and_long_enough_only_where_it_is_needed():
    assert secret("", required=False) == "dev"
    assert secret("abc", required=True) == "abc"
    for value in ("", "ab"):
        with pytest.raises(ImproperlyConfigured, match="KEY must be set when DEBUG is off: signs"):
            secret(value, required=True)


def test_both_ends_of_a_range_are_in_it():
    for value in ("1", "9"):
        env = Environment({"N": value})
        assert env.integer("N", "", default=5, minimum=1, maximum=9) == int(value)


def test_sqlite_lies_under_the_root_or_where_it_says():
    assert database("sqlite:///var/a.sqlite3")["NAME"] == ROOT / "var/a.sqlite3"
    assert database("sqlite:////data/a.sqlite3")["NAME"] == Path("/data/a.sqlite3")


def test_postgresql_by_host_or_socket():
    settings = database("postgres://us%40er:p%2Fw@db.example:5433/oracle?sslmode=require")
    assert settings["ENGINE"].endswith("postgresql")
    assert settings["USER"] == "us@er"
    assert settings["PASSWORD"] == "p/w"
    assert (settings["HOST"], settings["PORT"]) == ("db.example", "5433")
    assert settings["NAME"] == "oracle"
    assert settings["OPTIONS"] == {"sslmode": "require"}
    assert database("postgresql://postgres@/oracle?host=/tmp/pg")["HOST"] == "/tmp/pg"  # noqa: S108 - a name


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@h/d",
        "sqlite://",
        "postgres://u:secret@h/",
        "nonsense",
        "postgres://h:x/d",
        "postgres://u:secret/2@h/d",
        "postgres://u:secret#2@h/d",
    ],
)
def test_a_bad_database_is_refused_without_repeating_a_password(url):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as caught:
        database(url)
    assert "secret" not in str(caught.value)


def test_a_number_lies_in_its_range_or_is_refused():
    def read(value: str) -> float:
        return Environment({"T": value}).number("T", "", default=0.5, minimum=0, maximum=2)

    assert [read(""), read("0"), read("1.25")] == [0.5, 0.0, 1.25]
    for value in ("warm", "-0.1", "2.01", "nan", "inf"):
        with pytest.raises(ImproperlyConfigured, match="from 0 to 2"):
            read(value)


def test_a_renamed_variable_is_refused_by_its_new_name():
    with pytest.raises(ImproperlyConfigured) as refused:
        Environment({"ORACLE_REGENERATIONS": "2"})
    assert str(refused.value) == (
        "ORACLE_REGENERATIONS is now called ORACLE_MAX_REGENERATIONS: rename it."
    )
    Environment({"ORACLE_REGENERATIONS": ""})  # empty counts as not set


def test_a_renamed_value_is_refused_by_its_new_name():
    env = Environment({"ORACLE_CACHE_MISS": "sealed"})
    with pytest.raises(ImproperlyConfigured) as refused:
        env.choice(
            "ORACLE_CACHE_MISS", "about", default="regenerate", choices=("regenerate", "stored")
        )
    assert str(refused.value) == (
        "ORACLE_CACHE_MISS=sealed is now called ORACLE_CACHE_MISS=stored: change it."
    )
