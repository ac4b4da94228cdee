"""The /_control/ interface: valid and invalid input, and reset."""

import pytest

from sandbox.client import ControlError
from sandbox.faults import Faults
from tests.support.gemini_requests import ask
from tests.support.graph_requests import message, send
from tests.support.stripe_requests import checkout


def test_faults_are_queued_listed_and_cleared(sandbox):
    sandbox.fault("gemini", "slow", seconds=2, times=None, share=0.5, match="bakery")
    (rule,) = sandbox.faults()
    assert rule["share"] == 0.5
    assert rule["times"] is None
    sandbox.clear_faults()
    assert sandbox.faults() == []


def test_removing_one_rule_keeps_the_others(sandbox):
    first, second = sandbox.fault("gemini", "slow"), sandbox.fault("gemini", "error")
    assert sandbox.remove_fault(first["id"])
    assert [rule["id"] for rule in sandbox.faults()] == [second["id"]]
    assert not sandbox.remove_fault(first["id"])
    with pytest.raises(ControlError, match="400: id must be"):
        sandbox.call("DELETE", "faults/first")


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"target": "paypal", "fault": "slow"},
        {"target": "graph", "fault": "malformed"},
        {"target": "gemini", "fault": "slow", "times": 0},
        {"target": "gemini", "fault": "slow", "times": True},
        {"target": "gemini", "fault": "slow", "share": 2},
        {"target": "gemini", "fault": "slow", "seconds": "long"},
        {"target": "gemini", "fault": "slow", "colour": "blue"},
        {"target": "gemini", "fault": "verdict"},
        {"target": "gemini", "fault": "verdict", "label": "PINK"},
        {"target": ["gemini"], "fault": "slow"},
    ],
)
def test_an_invalid_rule_is_rejected_with_a_message(sandbox, rule):
    with pytest.raises(ControlError, match=r"^400: .*\.$"):
        sandbox.call("POST", "faults", rule)
    assert sandbox.faults() == []


def test_rules_apply_in_order_one_per_request():
    faults = Faults()
    for name in ("error", "slow", "hang_up"):
        faults.add({"target": "graph", "fault": name})
    assert faults.take("stripe", "") is None
    met = [faults.take("graph", "") for _ in range(4)]
    assert [rule and rule.fault for rule in met] == ["error", "slow", "hang_up", None]


def test_a_share_affects_that_share_deterministically():
    runs = []
    for _ in range(2):
        faults = Faults()
        faults.add({"target": "gemini", "fault": "error", "times": None, "share": 0.2})
        runs.append([faults.take("gemini", "") is not None for _ in range(1_000)])
    assert runs[0] == runs[1]
    assert 150 < sum(runs[0]) < 250


def test_settings_are_changed_all_or_nothing(sandbox):
    before = sandbox.health()["settings"]
    for wrong in (
        {"latency": 0.5, "variance": 2},
        {"webhook_url": "https://example.com"},
        {"webhook_secret": ""},
        {"latency": "fast"},
        {"rate": -1},
        {"token_seconds": 0},
        {"colour": "blue"},
    ):
        with pytest.raises(ControlError):
            sandbox.settings(**wrong)
    assert sandbox.health()["settings"] == before


def test_a_reset_clears_all_state_and_restores_the_settings(sandbox, gemini, shop, web):
    before = sandbox.health()
    ask(gemini)
    sandbox.pay(checkout(shop).id)
    send(web, message())
    sandbox.settings(latency=0.1, webhook_url=None)
    sandbox.fault("stripe", "error")
    sandbox.reset()
    assert sandbox.health() == before
    assert sandbox.faults() == []


def test_requests_are_recorded_in_order_and_by_target(sandbox, gemini, shop):
    ask(gemini)
    session = checkout(shop)
    shop.v1.checkout.sessions.retrieve(session.id)
    assert [each["target"] for each in sandbox.requests()] == ["gemini", "stripe", "stripe"]
    first, second = sandbox.requests("stripe")
    assert first["headers"]["authorization"] == "Bearer sk_test_sandbox"
    assert b"line_items[0][price_data][unit_amount]=500" in first["raw"]
    assert second["path"].endswith(session.id)
    later = sandbox.call("GET", f"requests?after={first['id']}&limit=1")["requests"]
    assert [each["id"] for each in later] == [second["id"]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("requests?target=moon", None),
        ("requests?after=-1", None),
        ("pay/cs_test_unknown1", {}),
        ("events/evt_unknown/resend", {}),
        ("sessions", {"amount_total": "five"}),
        ("sessions", {"id": "order-1"}),
        ("sessions", {"metadata": []}),
        ("events", {"type": 5}),
    ],
)
def test_bad_input_is_a_clear_4xx(sandbox, path, body):
    with pytest.raises(ControlError, match=r"^40[04]: "):
        sandbox.call("GET" if body is None else "POST", path, body)


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 100_000, b'"x"'])
def test_a_body_that_is_not_a_json_object_is_a_clear_400(web, body):
    for path in ("faults", "settings", "sessions", "events"):
        response = web.post(f"/_control/{path}", content=body)
        assert response.status_code == 400
        assert "Traceback" not in response.text
