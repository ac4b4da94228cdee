"""A way into the admin, on a database that is new, known or somebody's own."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from oracle_site.prepare import login

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kept(tmp_path: Path, db: None) -> Path:
    return tmp_path / "var" / "admin-password"


def test_a_new_database_gets_an_admin_whose_password_is_kept_secret(kept):
    told = login(kept, show=False)
    password = kept.read_text().strip()
    assert told == f"as admin, the password is in {kept}"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert User.objects.get(is_superuser=True).check_password(password)


def test_on_a_terminal_the_password_is_shown_each_time(kept):
    first = login(kept, show=True)
    assert kept.read_text().strip() in first
    assert login(kept, show=True) == first


def test_a_file_left_by_another_database_is_replaced(kept):
    kept.parent.mkdir()
    kept.write_text("old\n")
    kept.chmod(0o644)
    login(kept, show=False)
    assert kept.read_text() != "old\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["file", "password"])
def test_a_password_that_is_not_on_file_can_be_set_anew(kept, change):
    login(kept, show=False)
    if change == "file":
        kept.unlink()
    else:
        User.objects.get().delete()
        User.objects.create_superuser("admin")
    told = login(kept, show=True)
    assert "not on file" in told
    assert "manage.py changepassword admin`" in told


def test_a_superuser_of_ones_own_is_enough(kept):
    User.objects.create_superuser("grace")
    assert login(kept, show=True) == "as the superuser that you made"
    assert User.objects.count() == 1
    assert not kept.exists()


def test_a_user_named_admin_without_rights_gets_none(kept):
    User.objects.create_user("admin")
    assert login(kept, show=True) == "as the superuser that you made"
    assert not User.objects.filter(is_superuser=True).exists()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"DEBUG": "perhaps"}, "Oracle does not start: DEBUG must be 1 or 0"),
        ({"DATABASE_URL": "sqlite:////no/such/folder/x"}, "The database could not be set up:"),
    ],
)
def test_what_is_in_the_way_is_one_sentence(environment, sentence):
    run = prepare(environment)
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith(sentence)


def test_in_public_nobody_is_given_an_account(tmp_path):
    database = f"sqlite:///{tmp_path}/oracle.sqlite3"
    public = {"DEBUG": "0", "SECRET_KEY": "x" * 60, "ORACLE_ALLOW_SANDBOX": "1"}
    run = prepare({**public, "DATABASE_URL": database})
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout) == {"login": "", "sandbox": True}
    assert not (tmp_path / "admin-password").exists()


def prepare(environment: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "oracle_site.prepare"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
