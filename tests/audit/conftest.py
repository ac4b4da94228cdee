"""A separate log for each test that uses one."""

import pytest

from audit.core.chain import GENESIS, parse, verify
from tests.support.log_process import Elsewhere


@pytest.fixture
def log_path(settings, tmp_path):
    """This test's log, still empty."""
    settings.ORACLE_LOG_NAME = "here"
    settings.ORACLE_LOG_PATH = tmp_path / "oracle_log.jsonl"
    return settings.ORACLE_LOG_PATH


@pytest.fixture
def elsewhere(log_path, settings, transactional_db):
    """Other processes on the same log."""
    return Elsewhere(log_path, settings.ORACLE_LOG_NAME)


def read_chain(*paths):
    """The parsed lines of these files in order, checked to be one chain."""
    prev, found = GENESIS, []
    for path in paths:
        for line in path.read_text().splitlines(keepends=True):
            assert verify(line, prev) is None
            found.append(parse(line))
            prev = found[-1]["hash"]
    return found
