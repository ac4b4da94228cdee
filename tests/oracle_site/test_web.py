"""How one web process answers hits. What it serves as a whole is in test_serve.py and others."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from oracle_site.web import Web

PATIENCE = 10


class Protocol:
    """Takes one answer, as granian's does."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bytes]] = []

    def response_bytes(self, status: int, _headers: list[tuple[str, str]], body: bytes) -> None:
        self.answers.append((status, body))


class Lane:
    """Has an answer of their own for all but those whose session says otherwise."""

    def question(self, environ: dict[str, Any]) -> Any:
        return environ["session"], True, environ

    def answers(self, questions: list[Any]) -> list[Any]:
        sessions = [session for session, _, _ in questions]
        if "fail" in sessions:
            raise RuntimeError("not just now")
        return [None if one == "miss" else (200, [], one.encode()) for one in sessions]

    def pass_on(self, environ: dict[str, Any], start_response: Callable[..., object]) -> Any:
        start_response("202 Accepted", [])
        return [b"Django has " + environ["session"].encode()]


@pytest.fixture
def ask():
    """What each gets who asks together."""
    lane: Any = Lane()
    web = Web(lane, threads=1)

    def asked(*sessions: str) -> list[tuple[int, bytes]]:
        protocols = [Protocol() for _ in sessions]
        for protocol, session in zip(protocols, sessions, strict=True):
            web.handle(protocol, {"session": session})
        web.hits.start()
        web.hits.end()
        deadline = time.monotonic() + PATIENCE
        while not all(one.answers for one in protocols) and time.monotonic() < deadline:
            time.sleep(0.01)
        answers = [answer for protocol in protocols for answer in protocol.answers]
        assert len(answers) == len(sessions)
        return answers

    return asked


def test_each_gets_their_own_and_once(ask):
    sessions = [f"{number}" for number in range(200)]
    assert ask(*sessions) == [(200, one.encode()) for one in sessions]


def test_a_miss_among_hits_is_djangos(ask):
    assert ask("a", "miss", "b") == [(200, b"a"), (202, b"Django has miss"), (200, b"b")]


def test_all_go_on_to_django_where_the_fast_lane_fails_and_later_ones_do_not(ask):
    first = [*["some"] * 63, "fail"]  # 64 at most share a read
    *together, later = ask(*first, "later")
    assert together == [(202, f"Django has {one}".encode()) for one in first]
    assert later == (200, b"later")
