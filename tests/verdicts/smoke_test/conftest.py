from collections.abc import Callable

import pytest

from verdicts.smoke_test.context import Run
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import Sandbox
from verdicts.smoke_test.site_client import Shop


@pytest.fixture
def run() -> Callable[..., Run]:
    """One that looks once and waits for nothing: without seconds, the time is up at once."""

    def make(url: str = "http://127.0.0.1:9", *, sandbox: str = "", seconds: float = 0) -> Run:
        deadline = Deadline(seconds)
        return Run(
            shop=Shop(url, deadline),
            sandbox=Sandbox(sandbox, deadline) if sandbox else None,
            has_mailbox=bool(sandbox),
            deadline=deadline,
            tier="full",
            email="buyer@example.com",
            who="ada",
            say=lambda line: None,
        )

    return make
