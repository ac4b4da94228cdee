"""What a WSGI server loads: `oracle_site.wsgi:application`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from oracle_site.odd_headers import refuse_odd_headers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")


@contextmanager
def without(*modules: str) -> Iterator[None]:
    """Whoever would use one of them if it was there is told that it is not; later it is."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: "there is none"
    yield
    for name in hidden:
        del sys.modules[name]


# 16 MB of each process: DRF would import requests for a client that only tests use, and
# pygments for pages that we do not show; unfold psycopg for fields that we have none of.
_on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
with without("requests", "pygments", *(["psycopg"] if _on_sqlite else [])):
    _django = get_wsgi_application()

from verdicts.fastlane import Fastlane  # noqa: E402 - its models need Django to be set up

application = Fastlane(refuse_odd_headers(_django))
