"""Batched lookups: in order, bounded, and all answered before the thread ends."""

import asyncio

from verdicts.results.reader.batching import Batching
from verdicts.results.reader.lookup import CachedEntry


def ask(batching: Batching, *session_ids: str) -> list[CachedEntry | None]:
    """Submit all before the thread reads the queue."""

    async def gather() -> list[CachedEntry | None]:
        return await asyncio.gather(*waiting)

    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        waiting = []

        async def submit() -> None:
            batching.start(loop)
            waiting.extend(batching.submit(one) for one in session_ids)

        runner.run(submit())
        found = runner.run(gather())
        batching.stop()
    return found


def entry(session_id: str) -> CachedEntry:
    return session_id.encode(), "etag", 1


def test_each_request_gets_its_answer_and_batches_are_bounded():
    queries: list[list[str]] = []

    def find(session_ids: list[str]) -> dict[str, CachedEntry]:
        queries.append(session_ids)
        return {one: entry(one) for one in session_ids if one != "missing"}

    asked = [*map(str, range(20)), "missing"]
    found = ask(Batching(find, max_batch=3), *asked)
    assert found == [*(entry(one) for one in asked[:-1]), None]
    assert [one for query in queries for one in query] == asked
    assert max(map(len, queries)) <= 3


def test_the_batcher_ends_without_requests():
    assert ask(Batching(lambda _: {}, max_batch=3)) == []
