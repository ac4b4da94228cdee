import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def audit(capsys):
    """Runs audit_verify; returns the exit code and all output."""

    def run(*arguments):
        try:
            call_command("audit_verify", *map(str, arguments))
        except CommandError as error:
            return error.returncode, capsys.readouterr().out + str(error)
        return 0, capsys.readouterr().out

    return run
