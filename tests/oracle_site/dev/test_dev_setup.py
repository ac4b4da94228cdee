"""A way into the admin, on a database that is new, known, or has a superuser already."""

import stat
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from oracle_site.dev.dev_setup import make_login


@pytest.fixture
def kept(tmp_path: Path, db: None) -> Path:
    return tmp_path / "var" / "admin-password"


def test_a_new_database_gets_an_admin_whose_password_is_kept_secret(kept):
    told = make_login(kept, show=False)
    password = kept.read_text().strip()
    assert told == f"as admin, the password is in {kept}"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert User.objects.get(is_superuser=True).check_password(password)


def test_on_a_terminal_the_password_is_shown_each_time(kept):
    first = make_login(kept, show=True)
    assert kept.read_text().strip() in first
    assert make_login(kept, show=True) == first


def test_a_file_left_by_another_database_is_replaced(kept):
    kept.parent.mkdir()
    kept.write_text("old\n")
    kept.chmod(0o644)
    make_login(kept, show=False)
    assert kept.read_text() != "old\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["file", "password"])
def test_a_password_that_is_not_on_file_can_be_set_anew(kept, change):
    make_login(kept, show=False)
    if change == "file":
        kept.unlink()
    else:
        User.objects.get().delete()
        User.objects.create_superuser("admin")
    told = make_login(kept, show=True)
    assert "not on file" in told
    assert "manage.py changepassword admin`" in told


def test_a_superuser_of_ones_own_is_enough(kept):
    User.objects.create_superuser("grace")
    assert make_login(kept, show=True) == "as the superuser that you made"
    assert User.objects.count() == 1
    assert not kept.exists()


def test_a_user_named_admin_without_rights_gets_none(kept):
    User.objects.create_user("admin")
    assert make_login(kept, show=True) == "as the superuser that you made"
    assert not User.objects.filter(is_superuser=True).exists()
