"""Which modules a web process imports before the first cache miss."""

import subprocess
import sys

from drill.sites.child_env import child_env
from tests.support.file_sizes import ROOT

# Runs in a new process: this one has imported everything.
_CODE = """
import sys
from wsgiref.util import setup_testing_defaults
from oracle_site.wsgi import application

for path in ("/", "/api/verdict", "/oracle/result", "/healthz", "/admin/login/", "/api/schema/"):
    environ = {"PATH_INFO": path, "HTTP_HOST": "127.0.0.1"}
    setup_testing_defaults(environ)
    statuses = []
    parts = application(environ, lambda status, headers, *_: statuses.append(status))
    list(parts)
    assert statuses[0][:3] in ("200", "400"), (path, statuses)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_no_sdk_is_imported_before_the_first_miss(tmp_path):
    environment = child_env(DATABASE_URL=f"sqlite:///{tmp_path}/oracle.sqlite3")
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
    run = subprocess.run(
        [sys.executable, "-c", _CODE],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    imported = set(run.stdout.decode().split())
    assert {"django", "rest_framework"} <= imported
    assert imported & {"google", "stripe", "httpx", "psycopg", "requests"} == set()
