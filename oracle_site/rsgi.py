"""What an RSGI server loads: `oracle_site.rsgi:application`, the reader of cached verdicts."""

import os

import django
from django.db import connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
django.setup()

# Their models need Django to be set up.
from verdicts.reader.application import Reader  # noqa: E402
from verdicts.reader.lookup import open_lookup  # noqa: E402

# On PostgreSQL a query is a round trip, so requests share one; on SQLite it is a function call.
application = Reader(open_lookup, batched=connection.vendor == "postgresql")
