"""What an RSGI server loads: `oracle_site.rsgi:application`, the reader of cached verdicts."""

import os

import django
from django.db import connection

from oracle_site.server.skipped_imports import skipped_imports

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
with skipped_imports():
    django.setup()
    # Their models need Django to be set up.
    from verdicts.results.reader.application import Reader
    from verdicts.results.reader.lookup import open_lookup

    # On PostgreSQL a query is a round trip, so requests share one; on SQLite a function call.
    application = Reader(open_lookup, batched=connection.vendor == "postgresql")
