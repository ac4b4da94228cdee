import pytest

from verdicts.core.errors import ModelBusy, ModelRefused, ModelRetired
from verdicts.core.lock import locked_request
from verdicts.gateways.gemini import Endpoint, generate

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


@pytest.mark.parametrize("fault", ["empty", "blocked", "safety", "recitation", "max_tokens"])
def test_an_answer_without_a_whole_text_is_an_answer(sandbox, endpoint, fault):
    sandbox.fault("gemini", fault)
    answer = generate(REQUEST, endpoint)
    assert isinstance(answer.text, str)
    assert (answer.finish_reason or answer.block_reason) or fault == "empty"
