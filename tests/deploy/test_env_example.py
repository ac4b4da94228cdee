""".env.example is complete, and shells read it correctly."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
LINE = re.compile(r"^(#?)([A-Z][A-Z_]+)='?([^'\n]*)'?$", re.MULTILINE)


def test_every_setting_is_in_the_example_once():
    listed = [name for _, name, _ in LINE.findall(EXAMPLE.read_text())]
    assert sorted(listed) == sorted(variable.name for variable in settings.ENV.declared)


def test_commented_lines_show_the_default():
    defaults = {variable.name: variable.default for variable in settings.ENV.declared}
    shown = {name: text for off, name, text in LINE.findall(EXAMPLE.read_text()) if off}
    assert shown
    assert shown == {name: defaults[name] for name in shown}


def test_every_setting_has_a_comment_above_it():
    lines = EXAMPLE.read_text().splitlines()
    for number, line in enumerate(lines):
        if LINE.match(line):
            assert lines[number - 1].startswith("# "), line


def test_a_shell_reads_the_same_values():
    assigned = {name: text for off, name, text in LINE.findall(EXAMPLE.read_text()) if not off}
    shell = ["sh", "-c", f"set -a; . {EXAMPLE}; env"]
    run = subprocess.run(shell, env={}, capture_output=True, text=True, check=True)
    read = dict(line.split("=", 1) for line in run.stdout.splitlines())
    assert {name: read[name] for name in assigned} == assigned


@pytest.mark.parametrize(
    "value", ["postgres://a:b@c/d?sslmode=require&connect_timeout=5", "pa$$word#1", "a b", '"q"']
)
def test_a_value_in_single_quotes_is_read_literally(tmp_path, value):
    """By a shell; systemd and Compose treat single quotes alike."""
    path = tmp_path / "oracle.env"
    path.write_text(f"VALUE='{value}'\n")
    shell = ["sh", "-c", f"set -a; . {path}; env"]
    run = subprocess.run(shell, env={}, capture_output=True, text=True, check=True)
    assert f"VALUE={value}\n" in run.stdout


def test_the_example_contains_no_secret():
    values = {name: text for off, name, text in LINE.findall(EXAMPLE.read_text()) if not off}
    secrets = {name for name in values if re.search(r"KEY|SECRET|TOKEN|PASSWORD", name)}
    assert {values[name] for name in secrets} == {""}
