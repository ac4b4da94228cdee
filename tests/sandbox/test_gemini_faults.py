"""Every fault of the model, as google-genai reports it."""

import json
import time
from pathlib import Path

import httpx2
import pytest
from google.genai import errors

from audit.core.crosscheck import crosscheck
from sandbox.faults import KNOWN
from tests.support.gemini_requests import ask

TIERS = ["quick", "full", "strategy"]


@pytest.mark.parametrize(
    ("fault", "code", "kind"),
    [
        ("bad_key", 400, errors.ClientError),
        ("bad_request", 400, errors.ClientError),
        ("not_found", 404, errors.ClientError),
        ("rate_limited", 429, errors.ClientError),
        ("error", 500, errors.ServerError),
        ("bad_gateway", 502, errors.ServerError),
        ("unavailable", 503, errors.ServerError),
    ],
)
def test_an_error_has_googles_code_and_occurs_once(sandbox, gemini, fault, code, kind):
    sandbox.fault("gemini", fault)
    with pytest.raises(kind) as caught:
        ask(gemini)
    assert caught.value.code == code
    assert caught.value.status
    assert ask(gemini).text


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("fault", ["malformed", "truncated"])
def test_corrupted_text_is_not_json(sandbox, gemini, fault, tier):
    sandbox.fault("gemini", fault)
    response = ask(gemini, tier=tier)
    assert response.candidates[0].finish_reason == "STOP"
    decision = crosscheck(response.text, tier)
    assert "malformed_json" in decision.flags
    assert not decision.approved


@pytest.mark.parametrize("tier", TIERS)
def test_a_contradictory_verdict_is_json_that_the_gate_rejects(sandbox, gemini, tier):
    sandbox.fault("gemini", "contradictory")
    decision = crosscheck(ask(gemini, tier=tier).text, tier)
    assert not decision.approved
    assert decision.verdict_label == "GREEN"
    assert "malformed_json" not in decision.flags
    assert tier == "quick" or "dimension_conflict" in decision.flags


@pytest.mark.parametrize("tier", TIERS)
def test_the_gate_reports_a_missing_field(sandbox, gemini, tier):
    sandbox.fault("gemini", "missing_field")
    assert crosscheck(ask(gemini, tier=tier).text, tier).crosscheck_reason == "field_missing"


def test_the_missing_field_can_be_chosen(sandbox, gemini):
    sandbox.fault("gemini", "missing_field", field="verdict")
    assert "verdict" not in json.loads(ask(gemini).text)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    "fault", ["malformed", "truncated", "contradictory", "missing_field", "max_tokens"]
)
def test_corrupted_text_with_a_mark_is_rejected_for_the_same_reason(sandbox, gemini, fault, tier):
    sandbox.fault("gemini", fault)
    without = crosscheck(ask(gemini, tier=tier).text, tier)
    sandbox.fault("gemini", fault, mark="canary-17")
    text = ask(gemini, tier=tier).text
    assert "canary-17" in text
    assert crosscheck(text, tier).crosscheck_reason == without.crosscheck_reason


def test_an_empty_answer_has_no_text(sandbox, gemini):
    sandbox.fault("gemini", "empty")
    response = ask(gemini)
    assert response.text is None
    assert response.candidates is None


def test_a_blocked_prompt_has_its_block_reason(sandbox, gemini):
    sandbox.fault("gemini", "blocked")
    response = ask(gemini)
    assert response.candidates is None
    assert response.prompt_feedback.block_reason == "PROHIBITED_CONTENT"


@pytest.mark.parametrize("fault", ["max_tokens", "safety", "recitation"])
def test_a_finish_reason_other_than_stop(sandbox, gemini, fault):
    sandbox.fault("gemini", fault)
    response = ask(gemini)
    assert response.candidates[0].finish_reason.value == fault.upper()
    assert bool(response.text) == (fault == "max_tokens")


def test_a_broken_body_in_a_200(sandbox, gemini):
    sandbox.fault("gemini", "broken_body")
    with pytest.raises(json.JSONDecodeError):
        ask(gemini)


@pytest.mark.parametrize("fault", ["hang_up", "hang_up_after"])
def test_a_closed_connection_is_a_protocol_error(sandbox, gemini, fault):
    sandbox.fault("gemini", fault)
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(gemini)
    assert ask(gemini).text


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["slow", "slow_after"])
def test_a_slow_response_arrives_or_times_out(sandbox, gemini, fault):
    sandbox.fault("gemini", fault, seconds=0.3)
    began = time.monotonic()
    assert ask(gemini).text
    assert time.monotonic() - began >= 0.3
    sandbox.fault("gemini", fault, seconds=30)
    with pytest.raises(httpx2.ReadTimeout):
        ask(gemini)


def test_a_dribbling_response_outlasts_the_read_timeout(sandbox, web):
    sandbox.fault("gemini", "dribble", seconds=0.05)
    body = {"contents": [{"parts": [{"text": "Hello"}]}]}
    path = "/v1beta/models/m:generateContent?key=k"
    got = b""
    with web.stream("POST", path, json=body, timeout=0.5) as response:
        began = time.monotonic()
        for piece in response.iter_raw():
            got += piece
            if time.monotonic() - began > 1:
                break
    assert len(got) > 10
    assert not got.strip()


@pytest.mark.parametrize("label", ["GREEN", "AMBER", "RED", "NULL"])
def test_a_label_can_be_forced_and_still_passes_the_gate(sandbox, gemini, label):
    sandbox.fault("gemini", "verdict", label=label)
    text = ask(gemini).text
    assert json.loads(text)["verdict"] == label
    assert crosscheck(text, "full").approved


def test_a_rule_can_match_one_submission(sandbox, gemini):
    sandbox.fault("gemini", "unavailable", times=None, match="a “lighthouse” of my own")
    assert ask(gemini, "Should I buy a boat?").text
    with pytest.raises(errors.ServerError):
        ask(gemini, "Should I buy a “lighthouse” of my own?")


def test_every_fault_of_the_model_is_tested_here():
    text = Path(__file__).read_text()
    assert not [name for name in KNOWN["gemini"] if f'"{name}"' not in text]


def test_variance_as_a_fault_answers_once_as_another_replica(sandbox, gemini):
    usual = ask(gemini).text
    sandbox.fault("gemini", "variance")
    assert json.loads(ask(gemini).text)["verdict"] != json.loads(usual)["verdict"]
    assert ask(gemini).text == usual
