"""Waiting for quiet while the database comes and goes."""

import pytest

from drill.display import ProgressDisplay
from drill.failures import DatabaseUnreachable
from drill.invariants import quiescence


class Inspector:
    """An order is pending until the pause is skipped; the first attempt at it fails."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.pending = 1

    def call(self, method: str):
        self.called.append(method)
        if method == "pending":
            return {"orders": self.pending}
        if self.called.count("skip_pause") == 1:
            raise DatabaseUnreachable("gone")
        self.pending = 0
        return 60


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(quiescence, "POLL_INTERVAL", 0.0)
    monkeypatch.setattr(quiescence, "UNCHANGED", 0.0)


def test_skipping_a_pause_is_retried_while_the_database_is_unreachable():
    inspector = Inspector()
    wait = quiescence.wait_for_quiet(inspector, ProgressDisplay(), timeout=60)
    assert inspector.called.count("skip_pause") == 2
    assert wait.skipped == 60
