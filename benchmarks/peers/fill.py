"""`python -m benchmarks.peers.fill WHAT IDS`: the same verdicts for whatever a peer keeps them in.

WHAT is `fastapi` (Redis), `rows` (plain DRF's table) or `cache` (Django's Redis
cache); IDS is a file of session ids, a line each.
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
    bodies = [json.loads(idea.original.body) for idea in samples(str)]
    with ids.open() as file:
        for number, line in enumerate(file):
            yield line.strip(), bodies[number % len(bodies)]


def main(what: str, ids: Path) -> None:
    if what == "fastapi":
        from benchmarks.peers import fastapi_redis  # noqa: PLC0415 - may not be installed

        fastapi_redis.fill(os.environ["REDIS_URL"], verdicts(ids))
    else:
        _django(what, verdicts(ids))


def _django(what: str, some: Verdicts) -> None:
    # Which models need.
    from django.core.cache import cache  # noqa: PLC0415 - Django is set up by now
    from django.db import connection  # noqa: PLC0415 - likewise

    from benchmarks.peers.plain_drf import wsgi  # noqa: F401, PLC0415 - sets Django up
    from benchmarks.peers.plain_drf.models import Verdict  # noqa: PLC0415 - likewise

    if what == "rows":
        with connection.schema_editor() as schema:
            schema.create_model(Verdict)
    while batch := list(islice(some, BATCH)):
        if what == "rows":
            Verdict.objects.bulk_create(Verdict(session_id=id_, **body) for id_, body in batch)
        else:
            cache.set_many(dict(batch), timeout=None)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
