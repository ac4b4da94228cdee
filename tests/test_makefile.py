"""`make venv`: which Python it uses, and its error messages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
BROKEN = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def make(tmp_path):
    """`make venv` in a temporary directory, with only `commands` on the PATH."""
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "sh").symlink_to("/bin/sh")

    def run(*arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
        for name, text in programs.items():
            program = commands / name.replace("_", ".")
            program.write_text(text)
            program.chmod(0o755)
        command = [shutil.which("make"), "-f", str(MAKEFILE), "venv", *arguments]
        env = {"PATH": str(commands)}
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )

    return run


def fake_python(mark: str) -> str:
    """A usable Python that puts a marker file into its virtual environments."""
    return f"""#!/bin/sh
case "$*" in
    "-m venv .venv") exec {sys.executable} -c "
import os
os.makedirs('.venv/bin')
open('.venv/{mark}', 'w').close()" ;;
    *) exec {sys.executable} "$@" ;;
esac
"""


def marks(folder: Path) -> list[str]:
    return [path.name for path in (folder / ".venv").iterdir() if path.name != "bin"]


def test_the_newest_usable_python_is_used(make, tmp_path):
    done = make(python3_14=BROKEN, python3_12=fake_python("middle"), python3=fake_python("oldest"))
    assert (done.returncode, done.stderr) == (0, "")
    assert marks(tmp_path) == ["middle"]


def test_python_overrides_the_choice(make, tmp_path):
    done = make("PYTHON=python3", python3_14=fake_python("newest"), python3=fake_python("chosen"))
    assert (done.returncode, done.stderr) == (0, "")
    assert marks(tmp_path) == ["chosen"]


@pytest.mark.parametrize("python", ["", "/nowhere/python3"])
def test_without_a_usable_python_one_sentence_says_what_is_needed(make, tmp_path, python):
    done = make(f"PYTHON={python}", python3_13=BROKEN, python3=BROKEN)
    assert done.returncode != 0
    sentence, error_of_make, *more = done.stderr.splitlines()
    assert sentence.startswith("Oracle needs Python 3.11 to 3.14 with its venv and sqlite3 modules")
    assert (python or "python3.14 python3.13 python3.12 python3.11 python3") in sentence
    assert error_of_make.startswith("make: ***")
    assert more == []
    assert not (tmp_path / ".venv").exists()


def test_a_python_outside_3_11_to_3_14_is_not_used(make, tmp_path):
    """Runs the Makefile's check with different values of sys.version_info."""
    expression = subprocess.run(
        [shutil.which("make"), "-f", MAKEFILE, "--eval", "show:;@echo '$(USABLE)'", "show"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for version, usable in {(3, 10): 0, (3, 11): 1, (3, 14): 1, (3, 15): 0, (4, 0): 0}.items():
        pretend = f"import sys; sys.version_info = {(*version, 0, 'final', 0)!r}\n"
        done = subprocess.run([sys.executable, "-c", pretend + expression], check=False)
        assert (version, done.returncode) == (version, 1 - usable)


def test_a_virtual_environment_without_its_python_is_an_error(make, tmp_path):
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to("/nowhere/python3.11")
    done = make(python3=fake_python("new"))
    assert done.returncode != 0
    assert "delete .venv and try again" in done.stderr.splitlines()[0]


def test_a_virtual_environment_of_another_python_version_is_an_error(make, tmp_path):
    (tmp_path / ".venv").symlink_to(sys.prefix)
    other = "#!/bin/sh\necho 3.99\n"
    assert make(python3=other).returncode == 0
    done = make("PYTHON=python3", python3=other)
    assert done.returncode != 0
    assert "has another version of Python than PYTHON=python3" in done.stderr.splitlines()[0]
