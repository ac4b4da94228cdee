from collections.abc import Callable

import pytest

from verdicts.smoke.patience import Patience
from verdicts.smoke.run import Run
from verdicts.smoke.sandbox import Sandbox
from verdicts.smoke.shop import Shop


@pytest.fixture
def run() -> Callable[..., Run]:
    """One that looks once and waits for nothing: without seconds, the time is up at once."""

    def make(url: str = "http://127.0.0.1:9", *, sandbox: str = "", seconds: float = 0) -> Run:
        patience = Patience(seconds)
        return Run(
            shop=Shop(url, patience),
            sandbox=Sandbox(sandbox, patience) if sandbox else None,
            has_mailbox=bool(sandbox),
            patience=patience,
            tier="full",
            email="buyer@example.com",
            who="ada",
            say=lambda line: None,
        )

    return make
