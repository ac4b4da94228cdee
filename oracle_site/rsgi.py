"""RSGI entry point, `oracle_site.rsgi:application`: the reader of cached verdicts."""

import os

import django
from django.db import connection

from oracle_site.server.skipped_imports import skipped_imports

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
with skipped_imports():
    django.setup()
    # They import models, which needs a configured Django.
    from verdicts.results.reader.application import Reader
    from verdicts.results.reader.lookup import open_lookup

    # Batched on PostgreSQL, where a query is a network round trip; on SQLite it is a function call.
    application = Reader(open_lookup, batched=connection.vendor == "postgresql")
