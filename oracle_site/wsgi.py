"""What a WSGI server loads: `oracle_site.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
application = get_wsgi_application()
