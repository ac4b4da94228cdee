"""Waiting for quiet, whatever the database does meanwhile."""

import pytest

from drill.display import Display
from drill.failures import DatabaseAway
from drill.invariants import quiescence


class Examiner:
    """Something waits until it was skipped; the first time the database is away."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.left = 1

    def ask(self, question: str):
        self.asked.append(question)
        if question == "waiting":
            return {"orders": self.left}
        if self.asked.count("skip") == 1:
            raise DatabaseAway("gone")
        self.left = 0
        return 60


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(quiescence, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(quiescence, "STILL", 0.0)


def test_a_database_that_is_away_when_time_is_to_pass_is_asked_again():
    examiner = Examiner()
    wait = quiescence.wait_for_quiet(examiner, Display(), timeout=60)
    assert examiner.asked.count("skip") == 2
    assert wait.skipped == 60
