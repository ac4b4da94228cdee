"""The checks of a smoke test in their order; the first failure ends it."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db import Error

from verdicts.smoke_test import exclusion, purchase, regeneration, rejection
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed, NotRun


class State(StrEnum):
    OK = "ok"
    NOT_RUN = "not run"
    FAILED = "FAIL"


CHECKS: Final[dict[str, Callable[[Run], str]]] = {
    "site": purchase.site,
    "purchase": purchase.purchase,
    "webhook": purchase.webhook,
    "verdict": purchase.verdict,
    "email": purchase.email,
    "cache hit": purchase.cache_hit,
    "regeneration": regeneration.regeneration,
    "comparison": regeneration.comparison,
    "divergence": regeneration.divergence,
    "notification": regeneration.notification,
    "crosscheck": rejection.crosscheck,
    "exclusion": exclusion.exclusion,
}


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    state: State
    seconds: float
    message: str
    failure: Failed | None = None


def run_checks(run: Run) -> Iterator[Result]:
    """Yields each result at once; after a failure no further check runs."""
    for name, check in CHECKS.items():
        result = _run(name, check, run)
        yield result
        if result.failure:
            return


def _run(name: str, check: Callable[[Run], str], run: Run) -> Result:
    started = time.monotonic()
    state = State.OK
    failure = None
    try:
        message = check(run)
    except NotRun as reason:
        state, message = State.NOT_RUN, str(reason)
    except Failed as error:
        state, message, failure = State.FAILED, str(error), error
    except Error as error:  # only its type: the message may quote a row
        failure = Failed(
            "a response of the database",
            type(error).__name__,
            "is it up and migrated? Run `manage.py migrate --check`",
        )
        state, message = State.FAILED, str(failure)
    return Result(name, state, time.monotonic() - started, message, failure)
