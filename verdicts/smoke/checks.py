"""The checks of a smoke test, in the order of the walk, up to the first that fails."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from django.db import Error

from verdicts.smoke import buying, held_back, left_out, made_again
from verdicts.smoke.outcomes import Failed, NotRun
from verdicts.smoke.run import Run

State = Literal["ok", "not run", "FAIL"]

CHECKS: Final[dict[str, Callable[[Run], str]]] = {
    "site": buying.site,
    "purchase": buying.purchase,
    "webhook": buying.webhook,
    "verdict": buying.verdict,
    "email": buying.email,
    "cache hit": buying.cache_hit,
    "regeneration": made_again.regeneration,
    "comparison": made_again.comparison,
    "divergence": made_again.divergence,
    "notification": made_again.notification,
    "crosscheck": held_back.crosscheck,
    "figures": left_out.figures,
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
