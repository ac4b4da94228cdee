"""FastAPI with Redis: returns the stored JSON of a verdict by session id, unparsed.

`uvicorn benchmarks.peers.fastapi_redis:app`; requires REDIS_URL.
"""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import orjson
import redis
import redis.asyncio
from fastapi import FastAPI, HTTPException, Query, Request, Response


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.redis = redis.asyncio.from_url(os.environ["REDIS_URL"])
    yield
    await app.state.redis.aclose()


app = FastAPI(lifespan=lifespan)
SessionId = Annotated[str, Query(pattern=r"^cs_(test|live)_[A-Za-z0-9]{8,200}$")]


@app.get("/api/verdict")
async def verdict(request: Request, session_id: SessionId) -> Response:
    found = await request.app.state.redis.get(f"verdict:{session_id}")
    if found is None:
        raise HTTPException(404, "no such verdict")
    return Response(found, media_type="application/json")


def fill(url: str, verdicts: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Store every verdict by its session id."""
    with redis.from_url(url) as client, client.pipeline(transaction=False) as pipe:
        for number, (session_id, body) in enumerate(verdicts, start=1):
            pipe.set(f"verdict:{session_id}", orjson.dumps(body))
            if number % 1_000 == 0:
                pipe.execute()
        pipe.execute()
