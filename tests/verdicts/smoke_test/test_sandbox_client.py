import pytest

from drill.sites.live_site import free_port
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed
from verdicts.smoke_test.sandbox_client import SandboxClient


@pytest.fixture
def controls(sandbox) -> SandboxClient:
    return SandboxClient(sandbox.url, Deadline(30))


def test_only_own_faults_are_removed(controls, sandbox):
    theirs = sandbox.fault("gemini", "slow")
    controls.next_answer("verdict", about="a ferry", label="RED")
    controls.next_answer("malformed", about="a ferry")
    assert controls.faults() == 3
    controls.clear_faults()
    assert sandbox.faults() == [theirs]


def test_removing_faults_tolerates_a_stopped_sandbox(controls):
    controls.next_answer("malformed", about="a ferry")
    controls.url = f"http://127.0.0.1:{free_port()}"
    controls.clear_faults()
    with pytest.raises(Failed, match="the sandbox to accept faults"):
        controls.faults()


def test_an_error_does_not_contain_the_session_id(controls):
    with pytest.raises(Failed, match="the sandbox to accept pay, saw 404") as failed:
        controls.pay("cs_test_nobodyKnows1", email="ada@example.com")
    assert "cs_test_" not in failed.value.expected


def test_another_server_is_not_taken_for_a_sandbox(controls, sandbox):
    controls.url = f"{sandbox.url}/mailbox?"  # a page, with 200
    with pytest.raises(Failed, match="the sandbox to accept faults, saw 200"):
        controls.faults()
