import pytest

from audit.models import CrosscheckLog, ModelCall
from verdicts.models import Case
from verdicts.smoke_test.exclusion import exclusion
from verdicts.smoke_test.failures import Failed

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(run, bought, run_jobs):
    one = run()
    one.orders = [bought(smoke=True)]
    run_jobs()
    return one


def test_marked_rows_are_counted(done):
    assert exclusion(done).startswith(f"all 2 rows of order {done.orders[0].pk} are marked")


@pytest.mark.parametrize("model", [ModelCall, CrosscheckLog])
def test_an_unmarked_row_fails(done, model):
    model.objects.update(smoke=False)
    with pytest.raises(Failed, match=f"an unmarked {model.__name__}"):
        exclusion(done)


def test_a_case_for_staff_fails(done):
    Case.objects.create(kind=Case.Kind.FAILED, order=done.orders[0])
    with pytest.raises(Failed, match="no case for staff"):
        exclusion(done)
