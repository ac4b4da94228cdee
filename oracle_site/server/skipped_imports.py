"""Skips optional imports of Django apps that the site never uses, which saves 16 MB per process.

DRF imports requests for its test client, and pygments for its browsable API; unfold imports
psycopg for PostgreSQL's own field types.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings


@contextmanager
def skipped_imports() -> Iterator[None]:
    """Importing one of them raises ImportError within the block."""
    on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    skipped = ["requests", "pygments", *(["psycopg"] if on_sqlite else [])]
    hidden = [name for name in skipped if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None makes the import fail
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
