"""Leaves out what Django's apps would import and this site never uses: 16 MB of each process.

DRF imports requests for a client that only tests use, and pygments for pages that we do not
show; unfold imports psycopg for fields that we have none of.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings


@contextmanager
def skipped_imports() -> Iterator[None]:
    """Importing one of them fails within the block; afterwards it works again."""
    on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    skipped = ["requests", "pygments", *(["psycopg"] if on_sqlite else [])]
    hidden = [name for name in skipped if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: "there is none"
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
