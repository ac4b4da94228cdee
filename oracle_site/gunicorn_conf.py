"""gunicorn's configuration: `gunicorn -c python:oracle_site.gunicorn_conf oracle_site.wsgi`.

It listens on ORACLE_BIND and ORACLE_PORT unless systemd passes it a socket.
"""

import os
from typing import Any

from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")

_serving = settings.SERVING
_host = f"[{_serving.bind}]" if ":" in _serving.bind else _serving.bind

bind = f"{_host}:{_serving.port}"
backlog = 1024
workers = _serving.processes
worker_class = "gthread"
threads = _serving.threads
keepalive = 75  # seconds; an idle connection occupies no thread, and nginx keeps none open
graceful_timeout = 40  # seconds; a page takes at most 30
control_socket_disable = True

# Django alone decides which headers of the proxy to trust (BEHIND_PROXY).
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
header_map = "drop"  # X_Forwarded_For would be taken for X-Forwarded-For

# No access log: a URL contains the session id, which gives access to the verdict. gunicorn's
# error log goes through the service log, which redacts session ids.
accesslog = None
logconfig_dict: dict[str, Any] = settings.LOGGING
