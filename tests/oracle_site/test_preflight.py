"""What keeps `make serve` from starting is one sentence that says what to do."""

import os
import socket

import pytest

from tests.served_site import SECRET_KEY, migrate, restart, start

PUBLIC = {"DEBUG": "0", "ORACLE_ALLOW_SANDBOX": "1", "SECRET_KEY": SECRET_KEY}


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "Oracle does not start: DEBUG is on, and `make serve` is for customers."),
        ({"DEBUG": "0"}, "Oracle does not start: With DEBUG off the site must be live"),
        (PUBLIC, "migrations are not applied to the database"),
        ({**PUBLIC, "ORACLE_BIND": "example.com"}, "ORACLE_BIND must be an IP address"),
        ({**PUBLIC, "ORACLE_WEB_THREADS": "8"}, "must be more than ORACLE_REGENERATIONS"),
        ({**PUBLIC, "DATABASE_URL": "sqlite:////no/such/folder/x"}, "The database does not answer"),
    ],
)
def test_what_is_missing_is_one_sentence_that_says_what_to_do(tmp_path, variables, sentence):
    run = start(tmp_path, {"DATABASE_URL": f"sqlite:///{tmp_path}/none.sqlite3", **variables})
    assert run.returncode == 1
    assert sentence in run.stderr


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("MIDDLEWARE = []", "Oracle does not start: SystemCheckError: System check identified"),
        ("ROOT_URLCONF = 'nowhere'", "No module named 'nowhere'"),
    ],
)
def test_code_that_does_not_fit_together_is_not_started(tmp_path, fault, sentence):
    (tmp_path / "faulty.py").write_text(f"from oracle_site.settings import *\n{fault}\n")
    path = f"{tmp_path}:{os.environ['PYTHONPATH']}"
    run = start(tmp_path, {**PUBLIC, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "faulty"})
    assert run.returncode == 1
    assert sentence in run.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [(None, "cannot be read: No such file"), ("SECRET\n", "line 1 is not of the form NAME=value")],
)
def test_a_file_of_settings_that_is_none_is_refused(tmp_path, text, sentence):
    if text:
        (tmp_path / "oracle.env").write_text(text)
    run = start(tmp_path, PUBLIC, "--env-file", str(tmp_path / "oracle.env"))
    assert run.returncode == 1
    assert sentence in run.stderr


def test_a_folder_without_code_is_refused(tmp_path):
    run = start(tmp_path, PUBLIC, "--directory", str(tmp_path / "none"))
    assert run.returncode == 1
    assert "cannot be used: No such file or directory" in run.stderr


def test_a_taken_port_ends_with_one_sentence(tmp_path):
    variables = {**PUBLIC, "DATABASE_URL": f"sqlite:///{tmp_path}/taken.sqlite3"}
    migrate(variables)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = {"ORACLE_PORT": str(taken.getsockname()[1])}
        run = start(tmp_path, {**variables, **port, "ORACLE_STATIC_PATH": str(tmp_path / "static")})
    assert run.returncode == 1
    assert run.stderr.startswith(f"Port {port['ORACLE_PORT']} of 127.0.0.1 cannot be used")


def test_there_is_nothing_to_restart_where_nothing_runs(tmp_path):
    done = restart(tmp_path)
    assert done.returncode == 1
    assert "start it with `make serve`" in done.stderr


def test_the_control_is_no_longer_than_a_socket_may_be(tmp_path):
    run = start(tmp_path / ("x" * 100), {})
    assert "a path of at most 100 bytes" in run.stderr
