"""Every command with malformed and hostile arguments: an error message, never a traceback."""

import argparse
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class

from audit.models import Action
from drill.sites.child_env import child_env
from verdicts.models import Order

# The tests of the URLs try hostile values on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.once]
ROOT = Path(__file__).parents[4]
APPS = ("audit", "verdicts", "drill")
COMMANDS = {name: app for name, app in get_commands().items() if app in APPS}
# They run until they are stopped: only their argument parsing is tested here.
LONG_RUNNING = {"worker", "drill", "flush_log", "smoke_test"}
BUILT_IN = {
    "-h",
    "--help",
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
}
ODD = (
    *("", " ", "\x1b[2J", "\n", "a" * 100_000, "%s{0}", "\u202e"),
    *("-1", "--", "-", "nan", "inf", "1e999", "9" * 5000, "\u0663", "0x10", "1_0"),
    *("../../etc/passwd", "/", ".", "/nonexistent/file", "/proc/self/mem"),
    *("a@example.com\r\nBcc: b@example.com", "' OR 1=1 --"),
    *("cs_test_a1B2c3D4e5", "CS_TEST_A1", "cs_test_" + "a" * 300),
)


def options(command: str) -> list[argparse.Action]:
    parser = load_command_class(COMMANDS[command], command).create_parser("manage.py", command)
    return [
        one
        for one in parser._actions  # noqa: SLF001 - argparse has no public list
        if not BUILT_IN & {*one.option_strings} and one.dest not in ("no_color", "force_color")
    ]


def valid(option: argparse.Action) -> list[str]:
    """The option with a valid value."""
    value = [str(next(iter(option.choices)))] if option.choices else ["x"]
    return [*option.option_strings[-1:], *value]


def argument_lists(command: str) -> Iterator[list[str]]:
    """Argument lists with one odd value, and valid values of the required arguments."""
    listed = options(command)
    needed = [one for one in listed if one.required]
    for option in listed:
        others = [word for one in needed if one is not option for word in valid(one)]
        for number, value in enumerate(ODD if option.nargs != 0 else ()):
            if not option.option_strings:
                yield [*others, "--", value]
            elif number % 2 and value != "--":  # which Python 3.11 turns into an empty list
                yield [*others, f"{option.option_strings[-1]}={value}"]
            else:
                yield [*others, option.option_strings[-1], value]
    yield ["--no-such-option"]
    yield ["too", "many", "words", "for", "anything"]


def run(name: str, arguments: list[str]) -> int | str | None:
    """Its exit code; any other exception would be a traceback.

    Like Django's run_from_argv, but the database connection stays open.
    """
    command = load_command_class(COMMANDS[name], name)
    try:
        given = vars(command.create_parser("manage.py", name).parse_args(arguments))
        command.execute(*given.pop("args", ()), **given)
    except CommandError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return error.returncode
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_odd_arguments_never_cause_a_traceback(command, sandbox, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    tried = 0
    for arguments in argument_lists(command):
        if command in LONG_RUNNING and arguments[0] not in ("--no-such-option", "too"):
            continue
        tried += 1
        code = run(command, arguments)
        captured = capsys.readouterr()
        assert code in (0, 1, 2), arguments
        assert "Traceback" not in captured.err
        assert code == 0 or captured.err.strip() or captured.out.strip(), arguments
    assert tried >= 2
    assert not Order.objects.exists()
    assert not Action.objects.exists()


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "1e999"])
@pytest.mark.parametrize(
    ("command", "option"),
    [("worker", "--stall-timeout"), ("flush_log", "--every"), ("drill", "--crowd")],
)
def test_an_invalid_interval_or_size_is_rejected(command, option, value, capsys):
    assert run(command, [option, value]) in (1, 2)
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@pytest.mark.parametrize("word", [b"\xff", b"\xed\xa0\x80", "caf\xe9".encode("latin-1")])
def test_arguments_that_are_not_utf8_are_rejected_before_any_command(word, locale, tmp_path):
    """In a subprocess: Python decodes its arguments before any code runs."""
    environment = child_env(LC_ALL=locale, DATABASE_URL=f"sqlite:///{tmp_path}/db.sqlite3")
    command = [
        os.fsencode(sys.executable),
        b"manage.py",
        b"score_verdict",
        b"--tier",
        b"quick",
        word,
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Argument 4 is not UTF-8 text: '")
    assert len(done.stderr.splitlines()) == 1
