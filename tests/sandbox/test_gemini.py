"""The Gemini stand-in, through google-genai."""

import json

import pytest
from google.genai import errors

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS
from tests.support.gemini_requests import QUERY, ask
from verdicts.core.prompt import build_verdict_prompt


def test_a_verdict_has_geminis_response_format(gemini):
    response = ask(gemini)
    candidate = response.candidates[0]
    assert candidate.finish_reason == "STOP"
    assert candidate.content.role == "model"
    assert candidate.index == 0
    assert response.model_version == "gemini-2.5-flash"
    assert response.response_id
    usage = response.usage_metadata
    assert usage.prompt_token_count > 100
    assert usage.total_token_count == usage.prompt_token_count + usage.candidates_token_count


@pytest.mark.parametrize("tier", ["quick", "full", "strategy"])
def test_the_schema_decides_the_tier_and_the_gate_approves(gemini, tier):
    decision = crosscheck(ask(gemini, tier=tier).text, tier)
    assert decision.approved
    assert not decision.flags


def test_the_fields_are_those_of_the_schema(gemini):
    assert set(json.loads(ask(gemini, tier="quick").text)) == {"verdict", "summary"}
    strategy = json.loads(ask(gemini, tier="strategy").text)
    assert tuple(strategy["breakdown"]) == DIMENSIONS
    assert set(strategy["strategy"]) == {"next_step", "alternative", "tests"}


def test_the_verdict_refers_to_the_query(gemini):
    assert "quit your job and open a bakery" in json.loads(ask(gemini).text)["summary"]


def test_at_temperature_zero_the_same_request_gives_the_same_text(gemini):
    assert len({ask(gemini).text for _ in range(5)}) == 1


def test_query_seed_and_model_each_change_the_text(gemini):
    texts = {
        ask(gemini).text,
        ask(gemini, seed=8).text,
        ask(gemini, model="gemini-3-flash").text,
        ask(gemini, QUERY + " I mean it.").text,
    }
    assert len(texts) == 4


def test_above_temperature_zero_texts_vary(gemini):
    assert len({ask(gemini, temperature=0.9).text for _ in range(6)}) > 1


def test_a_bad_key_gets_googles_400(web):
    body = {"contents": [{"parts": [{"text": "Hello"}]}]}
    path = "/v1beta/models/gemini-2.5-flash:generateContent"
    assert web.post(path, json=body, params={"key": "sandbox"}).status_code == 200
    refused = web.post(path, json=body, headers={"x-goog-api-key": "bad-key"})
    assert refused.status_code == 400
    assert refused.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert web.post(path, json=body).status_code == 403


def test_a_seed_out_of_range_is_rejected(gemini):
    with pytest.raises(errors.ClientError) as caught:
        ask(gemini, seed=2**31)
    assert caught.value.code == 400


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b'{"contents": 5}', b"[" * 100_000])
def test_an_invalid_body_gets_googles_400(web, body):
    path = "/v1beta/models/m:generateContent"
    response = web.post(path, content=body, headers={"x-goog-api-key": "k"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == 400


def test_variance_gives_another_valid_verdict(sandbox, gemini):
    usual = json.loads(ask(gemini).text)
    sandbox.settings(variance=1.0)
    other = ask(gemini).text
    assert json.loads(other)["verdict"] != usual["verdict"]
    assert crosscheck(other, "full").approved
    assert ask(gemini).text == other


def test_requests_above_the_rate_limit_are_rejected(sandbox, gemini):
    sandbox.settings(rate=0.001)
    assert ask(gemini).text
    with pytest.raises(errors.ClientError) as caught:
        ask(gemini)
    assert caught.value.code == 429
    assert [seen["fault"] for seen in sandbox.requests("gemini")] == [None, "rate_limited"]
    sandbox.settings(rate=0)
    assert ask(gemini).text


def test_latency_delays_the_response(sandbox, gemini):
    sandbox.settings(latency=0.2)
    assert ask(gemini).text
    sandbox.settings(latency=5)
    with pytest.raises(Exception, match="timed out"):
        ask(gemini)


def test_the_exact_bytes_of_a_request_are_recorded(sandbox, gemini):
    ask(gemini)
    (seen,) = sandbox.requests("gemini")
    assert seen["method"] == "POST"
    assert seen["path"] == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert seen["headers"]["x-goog-api-key"] == "sandbox"
    assert seen["raw"].decode() == seen["body"]
    sent = json.loads(seen["raw"])
    assert sent["contents"][0]["parts"][0]["text"] == build_verdict_prompt("full", QUERY)
    assert sent["generationConfig"]["temperature"] == 0.0
    sandbox.clear_requests()
    assert sandbox.requests() == []
