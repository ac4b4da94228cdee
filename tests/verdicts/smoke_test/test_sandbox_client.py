import pytest

from drill.sites.live_site import free_port
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed
from verdicts.smoke_test.sandbox_client import Sandbox


@pytest.fixture
def controls(sandbox) -> Sandbox:
    return Sandbox(sandbox.url, Deadline(30))


def test_what_was_ordered_is_taken_back_and_nothing_else(controls, sandbox):
    theirs = sandbox.fault("gemini", "slow")
    controls.next_answer("verdict", about="a ferry", label="RED")
    controls.next_answer("malformed", about="a ferry")
    assert controls.faults() == 3
    controls.take_back()
    assert sandbox.faults() == [theirs]


def test_a_sandbox_that_is_gone_has_nothing_to_take_back(controls):
    controls.next_answer("malformed", about="a ferry")
    controls.url = f"http://127.0.0.1:{free_port()}"
    controls.take_back()
    with pytest.raises(Failed, match="the sandbox to take faults"):
        controls.faults()


def test_a_refusal_is_told_without_the_key_to_a_verdict(controls):
    with pytest.raises(Failed, match="the sandbox to take pay, saw 404") as failed:
        controls.pay("cs_test_nobodyKnows1", email="ada@example.com")
    assert "cs_test_" not in failed.value.expected


def test_what_answers_like_no_sandbox_is_none(controls, sandbox):
    controls.url = f"{sandbox.url}/mailbox?"  # a page, with 200
    with pytest.raises(Failed, match="the sandbox to take faults, saw 200"):
        controls.faults()
