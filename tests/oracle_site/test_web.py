"""How one web process answers hits. What it serves as a whole is in test_serve.py and others."""

from typing import Any

import pytest

from oracle_site.web import Web

HIT = (200, [], b"{}")


class Protocol:
    """Takes one answer, as granian's does."""

    def __init__(self) -> None:
        self.status = 0

    def response_bytes(self, status: int, _headers: list[tuple[str, str]], _body: bytes) -> None:
        self.status = self.status or status


class Lane:
    """Knows only hits, and fails at one that is asked for by the name of it."""

    def question(self, environ: dict[str, Any]) -> Any:
        return environ["session"], True, environ

    def answers(self, questions: list[Any]) -> list[Any]:
        if any(session == "fail" for session, *_ in questions):
            raise RuntimeError("not just now")
        return [HIT] * len(questions)


@pytest.fixture
def ask():
    """The status that each gets who asks together."""
    lane: Any = Lane()
    web = Web(lane, threads=1)

    def asked(*sessions: str) -> list[int]:
        protocols = [Protocol() for _ in sessions]
        for protocol, session in zip(protocols, sessions, strict=True):
            web.handle(protocol, {"session": session})
        web.hits.start()
        web.hits.end()
        return [protocol.status for protocol in protocols]

    return asked


def test_every_hit_is_answered_before_the_end(ask):
    assert ask(*["some"] * 200) == [200] * 200


def test_hits_that_cannot_be_answered_are_refused_and_later_ones_are_not(ask):
    sessions = [*["some"] * 63, "fail", "some"]  # 64 at most share a read
    assert ask(*sessions) == [*[500] * 64, 200]
