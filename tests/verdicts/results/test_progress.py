import pytest

from audit.models import ModelCall
from verdicts.models import Order, Status
from verdicts.results import progress


@pytest.mark.parametrize("place", range(5))
def test_steps_before_the_current_one_are_done(place):
    states = [step.state for step in progress.steps(place)]
    assert states == ["done"] * min(place, 4) + ["now"] * (place < 4) + ["later"] * (3 - place)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "step"),
    [
        (Status.AWAITING, progress.PAID),
        (Status.PAID, progress.JUDGING),
        (Status.GENERATING, progress.JUDGING),
    ],
)
def test_the_current_step_depends_on_the_orders_status(status, step):
    order = Order(status=status, session_id="cs_test_a1B2c3D4e5")
    assert progress.reached(order) == step


@pytest.mark.django_db
def test_an_answered_call_means_checking():
    order = Order(status=Status.GENERATING, session_id="cs_test_a1B2c3D4e5")
    call = {"session_id": order.session_id, "kind": "original", "tier": "full", "model": "m"}
    sent = {"prompt_sha256": "0" * 64, "asked": {}, "sent": {}, "duration_ms": 1}
    ModelCall.objects.create(**call, **sent, outcome=ModelCall.Outcome.BUSY)
    assert progress.reached(order) == progress.JUDGING
    ModelCall.objects.create(**call, **sent, outcome=ModelCall.Outcome.ANSWERED)
    assert progress.reached(order) == progress.CHECKING
