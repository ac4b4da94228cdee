"""The version has one source, pyproject.toml, and is shown wherever operators look for it."""

import platform
import subprocess
import sys
import tomllib
from pathlib import Path

import django
import pytest

from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.mark.parametrize("argument", ["--version", "version"])
@pytest.mark.parametrize(
    "variables", [{}, {"GEMINI_API_KEY": "half a set"}], ids=["valid", "invalid"]
)
def test_manage_prints_the_version_even_with_invalid_settings(argument, variables):
    run = subprocess.run(
        [sys.executable, "manage.py", argument],
        cwd=ROOT,
        env=child_env(**variables),
        capture_output=True,
        text=True,
        check=True,
    )
    runtime = f"Django {django.__version__}, Python {platform.python_version()}"
    assert (run.stdout, run.stderr) == (f"Oracle {VERSION} ({runtime})\n", "")


def test_healthz_reports_the_version(client):
    assert client.get("/healthz").json()["version"] == VERSION


def test_the_console_shows_the_version(admin_client):
    assert f"Console {VERSION}" in admin_client.get("/admin/").content.decode()


def test_the_changelog_has_an_entry_for_the_version():
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()
