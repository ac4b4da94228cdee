"""The WSGI application: `benchmarks.peers.plain_drf.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.peers.plain_drf.settings")
application = get_wsgi_application()
