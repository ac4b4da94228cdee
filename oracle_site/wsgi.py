"""WSGI entry point, `oracle_site.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

from oracle_site.header_validation import validate_headers
from oracle_site.server.skipped_imports import skipped_imports

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
with skipped_imports():
    application = validate_headers(get_wsgi_application())
