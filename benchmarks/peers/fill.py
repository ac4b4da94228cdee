"""`python -m benchmarks.peers.fill STORAGE IDS`: store the same verdicts for a peer.

STORAGE is `fastapi` (Redis), `rows` (the table of plain DRF) or `cache` (Django's Redis
cache); IDS is a file with one session id per line.
"""

import json
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.dataset.samples import samples

BATCH: Final = 1_000
Verdicts = Iterator[tuple[str, dict[str, Any]]]


def verdicts(ids: Path) -> Verdicts:
    bodies = [json.loads(sample.original.body) for sample in samples(str)]
    with ids.open() as file:
        for number, line in enumerate(file):
            yield line.strip(), bodies[number % len(bodies)]


def main(storage: str, ids: Path) -> None:
    if storage == "fastapi":
        from benchmarks.peers import fastapi_redis  # noqa: PLC0415 - may not be installed

        fastapi_redis.fill(os.environ["REDIS_URL"], verdicts(ids))
    else:
        _fill_django(storage, verdicts(ids))


def _fill_django(storage: str, items: Verdicts) -> None:
    from django.core.cache import cache  # noqa: PLC0415 - Django is set up by now
    from django.db import connection  # noqa: PLC0415 - likewise

    from benchmarks.peers.plain_drf import wsgi  # noqa: F401, PLC0415 - sets Django up
    from benchmarks.peers.plain_drf.models import Verdict  # noqa: PLC0415 - likewise

    if storage == "rows":
        with connection.schema_editor() as schema:
            schema.create_model(Verdict)
    while batch := list(islice(items, BATCH)):
        if storage == "rows":
            Verdict.objects.bulk_create(Verdict(session_id=id_, **body) for id_, body in batch)
        else:
            cache.set_many(dict(batch), timeout=None)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
