"""The admin account, on a new database, a known one, or one with a superuser."""

import stat
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from oracle_site.dev.dev_setup import ensure_admin


@pytest.fixture
def file(tmp_path: Path, db: None) -> Path:
    return tmp_path / "var" / "admin-password"


def test_a_new_database_gets_an_admin_and_a_private_password_file(file):
    sentence = ensure_admin(file, show_password=False)
    password = file.read_text().strip()
    assert sentence == f"as admin, the password is in {file}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert User.objects.get(is_superuser=True).check_password(password)


def test_on_a_terminal_the_password_is_shown_every_time(file):
    first = ensure_admin(file, show_password=True)
    assert file.read_text().strip() in first
    assert ensure_admin(file, show_password=True) == first


def test_a_file_left_by_another_database_is_replaced(file):
    file.parent.mkdir()
    file.write_text("old\n")
    file.chmod(0o644)
    ensure_admin(file, show_password=False)
    assert file.read_text() != "old\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["file", "password"])
def test_a_password_that_is_not_on_file_can_be_reset(file, change):
    ensure_admin(file, show_password=False)
    if change == "file":
        file.unlink()
    else:
        User.objects.get().delete()
        User.objects.create_superuser("admin")
    sentence = ensure_admin(file, show_password=True)
    assert "not on file" in sentence
    assert "manage.py changepassword admin`" in sentence


def test_no_admin_is_created_beside_another_superuser(file):
    User.objects.create_superuser("grace")
    assert ensure_admin(file, show_password=True) == "as the superuser that you created"
    assert User.objects.count() == 1
    assert not file.exists()


def test_an_ordinary_user_named_admin_is_not_promoted(file):
    User.objects.create_user("admin")
    assert ensure_admin(file, show_password=True) == "as the superuser that you created"
    assert not User.objects.filter(is_superuser=True).exists()
