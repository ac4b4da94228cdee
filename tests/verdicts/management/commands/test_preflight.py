"""Every reason not to start a production process is one sentence that says what to do."""

import os
import subprocess
import sys

import pytest

from drill.sites.child_env import child_env
from drill.sites.processes import ROOT
from drill.sites.served_site import SECRET_KEY, migrate

PUBLIC = {"DEBUG": "0", "ORACLE_ALLOW_SANDBOX": "1", "SECRET_KEY": SECRET_KEY}


def preflight(variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", "preflight", *arguments],
        cwd=ROOT,
        env=child_env(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "CommandError: DEBUG is on, but this checks a production site."),
        ({"DEBUG": "0"}, "Oracle does not start: With DEBUG off the site must be live"),
        (PUBLIC, "migrations are not applied to the database"),
        ({**PUBLIC, "ORACLE_BIND": "example.com"}, "ORACLE_BIND must be an IP address"),
        ({**PUBLIC, "ORACLE_WEB_THREADS": "20"}, "ORACLE_WEB_THREADS must be more than 20"),
        ({**PUBLIC, "DATABASE_URL": "sqlite:////no/such/folder/x"}, "The database does not answer"),
    ],
)
def test_a_failed_check_is_one_sentence_that_says_what_to_do(tmp_path, variables, sentence):
    run = preflight({"DATABASE_URL": f"sqlite:///{tmp_path}/none.sqlite3", **variables})
    assert run.returncode == 1
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("MIDDLEWARE = []", "SystemCheckError: System check identified"),
        ("ROOT_URLCONF = 'nowhere'", "No module named 'nowhere'"),
    ],
)
def test_inconsistent_code_is_rejected(tmp_path, fault, sentence):
    (tmp_path / "faulty.py").write_text(f"from oracle_site.settings import *\n{fault}\n")
    path = f"{tmp_path}:{os.environ['PYTHONPATH']}"
    run = preflight({**PUBLIC, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "faulty"})
    assert run.returncode == 1
    assert sentence in run.stderr


def test_static_files_are_collected_only_on_request(tmp_path):
    variables = {
        **PUBLIC,
        "DATABASE_URL": f"sqlite:///{tmp_path}/oracle.sqlite3",
        "ORACLE_STATIC_PATH": str(tmp_path / "static"),
    }
    migrate(variables)
    assert preflight(variables).returncode == 0
    assert not (tmp_path / "static").exists()
    run = preflight(variables, "--collect-static")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert list((tmp_path / "static").glob("oracle.*.css.gz"))


def test_an_unwritable_static_path_is_one_sentence(tmp_path):
    variables = {**PUBLIC, "DATABASE_URL": f"sqlite:///{tmp_path}/oracle.sqlite3"}
    migrate(variables)
    run = preflight({**variables, "ORACLE_STATIC_PATH": "/proc/none"}, "--collect-static")
    assert run.returncode == 1
    assert "The static files cannot be collected into ORACLE_STATIC_PATH" in run.stderr
