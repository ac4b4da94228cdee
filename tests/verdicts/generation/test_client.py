from contextlib import nullcontext
from dataclasses import replace

import pytest

from verdicts.core.errors import ModelBusy, ModelQuotaExhausted, ModelRefused, ModelRetired
from verdicts.core.request_config import locked_request
from verdicts.generation.client import Endpoint, generate

pytestmark = pytest.mark.slow

REQUEST = locked_request(model="gemini-2.5-flash", tier="quick", query="Should I?")


@pytest.fixture
def endpoint(sandbox) -> Endpoint:
    return Endpoint("key", sandbox.url, deadline=3)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("not_found", ModelRetired),
        ("bad_request", ModelRefused),
        ("bad_key", ModelBusy),
        ("rate_limited", ModelBusy),
        ("error", ModelBusy),
        ("hang_up", ModelBusy),
        ("broken_body", ModelBusy),
    ],
)
def test_each_error_is_mapped_once(sandbox, endpoint, fault, error):
    sandbox.fault("gemini", fault, times=None)
    with pytest.raises(error) as caught:
        generate(REQUEST, endpoint)
    assert "Should I?" not in str(caught.value)
    assert "key" not in str(caught.value).split()


def test_the_call_waits_for_quota_within_its_deadline(sandbox, endpoint):
    sandbox.fault(
        "gemini", "rate_limited", times=4
    )  # more than the three attempts for other faults
    assert generate(REQUEST, replace(endpoint, deadline=20)).text
    assert len(sandbox.requests("gemini")) == 5


def test_a_quota_that_stays_exhausted_is_reported_as_such(sandbox, endpoint):
    sandbox.fault("gemini", "rate_limited", times=None)
    with pytest.raises(ModelBusy, match="the model answered 429 for 3 s"):
        generate(REQUEST, replace(endpoint, deadline=3))


def test_a_call_that_may_not_wait_for_quota_returns_at_once(sandbox, endpoint):
    sandbox.fault("gemini", "rate_limited")
    with pytest.raises(ModelQuotaExhausted):
        generate(REQUEST, endpoint, lambda: nullcontext(False))
    assert len(sandbox.requests("gemini")) == 1


@pytest.mark.parametrize("fault", ["empty", "blocked", "safety", "recitation", "max_tokens"])
def test_a_blocked_or_cut_off_response_is_an_answer(sandbox, endpoint, fault):
    sandbox.fault("gemini", fault)
    answer = generate(REQUEST, endpoint)
    assert isinstance(answer.text, str)
    assert (answer.finish_reason or answer.block_reason) or fault == "empty"
