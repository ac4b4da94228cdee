"""What a WSGI server loads: `oracle_site.wsgi:application`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from oracle_site.header_validation import validate_headers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")


@contextmanager
def without(*modules: str) -> Iterator[None]:
    """Importing one of them fails within the block; afterwards it works again."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: "there is none"
    yield
    for name in hidden:
        del sys.modules[name]


# 16 MB of each process: DRF would import requests for a client that only tests use, and
# pygments for pages that we do not show; unfold psycopg for fields that we have none of.
_on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
with without("requests", "pygments", *(["psycopg"] if _on_sqlite else [])):
    application = validate_headers(get_wsgi_application())
