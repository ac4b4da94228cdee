"""Whether everything the smoke test caused is marked, so that statistics exclude it."""

from typing import Final

from audit.models import CrosscheckLog, DivergenceEvent, ModelCall
from verdicts.models import Case
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.failures import Failed

OLD_CODE: Final = "a process runs older code than this command: restart web and workers"


def exclusion(run: Run) -> str:
    """Every row that web and workers wrote for these orders is marked."""
    sessions = [order.session_id for order in run.orders]
    counted = 0
    for model in (ModelCall, CrosscheckLog, DivergenceEvent):
        rows = model.objects.filter(session_id__in=sessions)
        counted += rows.count()
        if rows.filter(smoke=False).exists():
            raise Failed(
                "every row of these orders to be marked as smoke",
                f"an unmarked {model.__name__}",
                OLD_CODE,
            )
    if Case.objects.filter(order__in=run.orders).exists():
        raise Failed("no case for staff", "there is one", OLD_CODE)
    orders = " and ".join(f"order {order.pk}" for order in run.orders)
    return f"all {counted} rows of {orders} are marked, and no case was opened"
