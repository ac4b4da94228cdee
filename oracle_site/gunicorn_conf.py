"""gunicorn's configuration: `gunicorn -c python:oracle_site.gunicorn_conf oracle_site.wsgi`.

Without a socket from systemd it listens at ORACLE_BIND and ORACLE_PORT.
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
keepalive = 75  # seconds; an idle connection holds no thread, and nginx keeps none
graceful_timeout = 40  # seconds; a page takes 30 at most
control_socket_disable = True

# Which headers of the proxy count is Django's decision alone (BEHIND_PROXY).
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
header_map = "drop"  # a name with an underscore would pose as the one with a hyphen

# Requests are not logged: an address holds a session id, which is the key to a verdict. What
# gunicorn reports about errors goes through the service log, which redacts session ids.
accesslog = None
logconfig_dict: dict[str, Any] = settings.LOGGING
