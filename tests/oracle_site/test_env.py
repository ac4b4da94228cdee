from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from oracle_site.env import Environment

ROOT = Path("/srv/oracle")


def database(url: str) -> dict:
    return Environment({"DATABASE_URL": url}).database("DATABASE_URL", "", default="", root=ROOT)


def test_an_unset_or_empty_variable_has_the_default():
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


def test_a_trailing_slash_of_a_url_is_removed():
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
def test_a_bad_url_names_the_variable(value):
    with pytest.raises(ImproperlyConfigured, match="SITE_URL must be a URL"):
        Environment({"SITE_URL": value}).url("SITE_URL", "", default="")


def secret(value: str, *, required: bool) -> str:
    env = Environment({"KEY": value})
    return env.secret("KEY", "signs", required=required, min_length=3, default="dev")


def test_a_secret_must_be_set_and_long_enough_only_if_it_is_required():
    assert secret("", required=False) == "dev"
    assert secret("abc", required=True) == "abc"
    for value in ("", "ab"):
        with pytest.raises(ImproperlyConfigured, match="KEY must be set when DEBUG is off: signs"):
            secret(value, required=True)


def test_a_range_includes_both_ends():
    for value in ("1", "9"):
        env = Environment({"N": value})
        assert env.integer("N", "", default=5, minimum=1, maximum=9) == int(value)


def test_a_sqlite_path_is_relative_to_the_root_or_absolute():
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
def test_a_bad_database_url_is_rejected_without_repeating_the_password(url):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as caught:
        database(url)
    assert "secret" not in str(caught.value)


def test_a_number_outside_its_range_is_rejected():
    def read(value: str) -> float:
        return Environment({"T": value}).number("T", "", default=0.5, minimum=0, maximum=2)

    assert [read(""), read("0"), read("1.25")] == [0.5, 0.0, 1.25]
    for value in ("warm", "-0.1", "2.01", "nan", "inf"):
        with pytest.raises(ImproperlyConfigured, match="from 0 to 2"):
            read(value)


def test_a_renamed_variable_is_rejected_with_its_new_name():
    with pytest.raises(ImproperlyConfigured) as error:
        Environment({"ORACLE_REGENERATIONS": "2"})
    assert str(error.value) == (
        "ORACLE_REGENERATIONS was renamed to ORACLE_MAX_REGENERATIONS: "
        "set ORACLE_MAX_REGENERATIONS instead."
    )
    Environment({"ORACLE_REGENERATIONS": ""})  # empty counts as not set


def test_a_renamed_value_is_rejected_with_its_new_name():
    env = Environment({"ORACLE_CACHE_MISS": "sealed"})
    with pytest.raises(ImproperlyConfigured) as error:
        env.choice(
            "ORACLE_CACHE_MISS", "about", default="regenerate", choices=("regenerate", "stored")
        )
    assert str(error.value) == (
        "ORACLE_CACHE_MISS=sealed was renamed to ORACLE_CACHE_MISS=stored: "
        "set ORACLE_CACHE_MISS=stored instead."
    )
