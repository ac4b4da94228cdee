"""Runs management commands one after the other in one process, which saves start-up time.

Reads a list of {arguments, input} as JSON, and writes a list of {code, out, err}.
"""

import contextlib
import io
import json
import os
import sys
import traceback

import django
from django.core.management import execute_from_command_line


def run(arguments: list[str], stdin: str) -> dict[str, object]:
    out, err, code = io.StringIO(), io.StringIO(), 0
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            execute_from_command_line(["manage.py", *arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:  # noqa: BLE001 - like Python itself
            traceback.print_exc()
            code = 1
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    django.setup()
    commands = json.load(sys.stdin)
    results = [run(command["arguments"], command["input"]) for command in commands]
    sys.stdout.write(json.dumps(results))
