"""Whether all that came of the smoke test is marked, so that no figure holds it."""

from typing import Final

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from verdicts.models import Case
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed

OLDER: Final = "a process runs older code than this command: restart web and workers"


def figures(run: Run) -> str:
    """Every process that had a hand in it has marked what it wrote."""
    sessions = [order.session_id for order in run.orders]
    counted = 0
    for model in (ModelCall, CrosscheckLog, DivergenceEvent):
        rows = model.objects.filter(session_id__in=sessions)
        counted += rows.count()
        if rows.filter(smoke=False).exists():
            raise Failed(
                "every row of these orders to be marked as smoke",
                f"an unmarked {model.__name__}",
                OLDER,
            )
    if Case.objects.filter(order__in=run.orders).exists():
        raise Failed("no case for staff", "there is one", OLDER)
    orders = " and ".join(f"order {order.pk}" for order in run.orders)
    return f"all {counted} rows of {orders} are marked, and no case was opened"
