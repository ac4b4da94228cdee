"""The checks of a smoke test, in the order of the walk, up to the first that fails."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from django.db import Error

from verdicts.smoke_test import exclusion, purchase, regeneration, rejection
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed, NotRun

State = Literal["ok", "not run", "FAIL"]

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
    "figures": exclusion.figures,
}


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    state: State
    seconds: float
    says: str
    failure: Failed | None = None


def run_checks(run: Run) -> Iterator[Result]:
    """Each as it is done; a failure is the last one."""
    for name, check in CHECKS.items():
        result = _run(name, check, run)
        yield result
        if result.failure:
            return


def _run(name: str, check: Callable[[Run], str], run: Run) -> Result:
    begun = time.monotonic()
    state: State = "ok"
    failure = None
    try:
        says = check(run)
    except NotRun as reason:
        state, says = "not run", str(reason)
    except Failed as error:
        state, says, failure = "FAIL", str(error), error
    except Error as error:  # only its kind: its text may quote a row
        failure = Failed(
            "an answer of the database",
            type(error).__name__,
            "is it up and migrated? See `manage.py migrate --check`",
        )
        state, says = "FAIL", str(failure)
    return Result(name, state, time.monotonic() - begun, says, failure)
