from collections.abc import Callable

import pytest

from verdicts.smoke_test.context import Run
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import SandboxClient
from verdicts.smoke_test.site_client import SiteClient


@pytest.fixture
def run() -> Callable[..., Run]:
    """A run that polls once: by default its deadline is now."""

    def make(url: str = "http://127.0.0.1:9", *, sandbox: str = "", seconds: float = 0) -> Run:
        deadline = Deadline(seconds)
        return Run(
            client=SiteClient(url, deadline),
            sandbox=SandboxClient(sandbox, deadline) if sandbox else None,
            has_mailbox=bool(sandbox),
            deadline=deadline,
            tier="full",
            email="buyer@example.com",
            who="ada",
            print_line=lambda line: None,
        )

    return make
