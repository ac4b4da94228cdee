import pytest

from audit.models import CrosscheckLog, ModelCall
from verdicts.models import Case
from verdicts.smoke_test.exclusion import figures
from verdicts.smoke_test.failures import Failed

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(run, bought, run_jobs):
    one = run()
    one.orders = [bought(smoke=True)]
    run_jobs()
    return one


def test_all_that_was_marked_is_told(done):
    assert figures(done).startswith(f"all 2 rows of order {done.orders[0].pk} are marked")


@pytest.mark.parametrize("model", [ModelCall, CrosscheckLog])
def test_a_process_with_older_code_is_found_out(done, model):
    model.objects.update(smoke=False)
    with pytest.raises(Failed, match=f"an unmarked {model.__name__}"):
        figures(done)


def test_a_case_for_staff_is_found_out(done):
    Case.objects.create(kind=Case.Kind.FAILED, order=done.orders[0])
    with pytest.raises(Failed, match="no case for staff"):
        figures(done)
